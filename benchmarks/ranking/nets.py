"""Trains the networks of the cost model (`tuning/networks.py`) with PyTorch; `fit.py` calls it.

A network learns two things at once: log(time) relative to the problem's other plans, good ones weighted more, and to
put fast plans first. For the second, a plan is drawn with a probability that falls with the time that the network
expects, with what needs no fit; the relative speed of the plan drawn is to be large.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
import torch
from data import GOOD
from torch import nn

from ttc_llvm.tuning.cost.networks import FAR, Networks

NETWORKS, WIDTH = 4, 64
EPOCHS, BATCH = 60, 16  # of problems
RATE, DECAY = 3e-3, 3e-2
SHARPNESS = 20.0  # of the draw: log(time) times this, and so its weight beside that of the times
TIMES = 10.0

# Inputs [plans, inputs]; log(time) free of what needs no fit, speed, and what needs none [plans].
Problem = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def trained(columns: tuple[str, ...], data: Sequence[Problem], count: int = NETWORKS) -> Networks:
    """Networks for these problems, each from a seed of its own; reproducible on one machine. columns: of the inputs."""
    torch.set_num_threads(1)
    inputs = np.vstack([inputs for inputs, *_ in data])
    mean, scale = inputs.mean(0), inputs.std(0)
    scale[scale < 1e-3] = 1.0
    mean, scale = _rounded(mean), _rounded(scale)
    padded = _padded(data, mean, scale)
    layers = [_trained(padded, seed) for seed in range(count)]
    weights = tuple(_stored(net[i].weight.T for net in layers) for i in (0, 2, 4))
    biases = tuple(_stored(net[i].bias[None] for net in layers) for i in (0, 2, 4))
    return _levelled(Networks(columns, mean, scale, weights, biases), data)


def _stored(parameters: Iterable[torch.Tensor]) -> np.ndarray:
    """The same parameters of all networks."""
    return _rounded(np.stack([one.detach().numpy() for one in parameters]))


def _rounded(values: np.ndarray) -> np.ndarray:
    """As the file has them."""
    return values.astype(np.float16).astype(np.float32)


def _padded(data: Sequence[Problem], mean: np.ndarray, scale: np.ndarray) -> tuple[torch.Tensor, ...]:
    """Inputs [problems, plans, inputs], log(time), relative speed and the rest [problems, plans]; speed 0: there is no
    plan."""
    most = max(len(speeds) for _, _, speeds, _ in data)
    inputs = torch.zeros(len(data), most, len(mean))
    times, speeds, rests = (torch.zeros(len(data), most) for _ in range(3))
    for row, (numbers, time, speed, rest) in enumerate(data):
        count = len(speed)
        inputs[row, :count] = torch.tensor(np.clip((numbers - mean) / scale, -FAR, FAR))
        times[row, :count] = torch.tensor(time)
        speeds[row, :count] = torch.tensor(speed / speed.max())
        rests[row, :count] = torch.tensor(rest)
    return inputs, times, speeds, rests


def _trained(padded: tuple[torch.Tensor, ...], seed: int) -> nn.Sequential:
    torch.manual_seed(seed)
    inputs = padded[0]
    sizes = (inputs.shape[2], WIDTH, WIDTH)
    net = nn.Sequential(
        nn.Linear(sizes[0], sizes[1]), nn.SiLU(), nn.Linear(sizes[1], sizes[2]), nn.SiLU(), nn.Linear(sizes[2], 1)
    )
    optimiser = torch.optim.AdamW(net.parameters(), lr=RATE, weight_decay=DECAY)
    batches = -(-len(inputs) // BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, RATE, total_steps=EPOCHS * batches)
    for _ in range(EPOCHS):
        for rows in torch.randperm(len(inputs)).split(BATCH):
            optimiser.zero_grad()
            _loss(net, *(values[rows] for values in padded)).backward()
            optimiser.step()
            schedule.step()
    return net


def _loss(
    net: nn.Sequential, inputs: torch.Tensor, times: torch.Tensor, speeds: torch.Tensor, rests: torch.Tensor
) -> torch.Tensor:
    there = speeds > 0
    said = torch.zeros_like(times)
    said[there] = net(inputs[there]).squeeze(1)
    weights = speeds**GOOD / (speeds**GOOD).sum(1, keepdim=True)
    error = said - times
    error = error - (weights * error).sum(1, keepdim=True)
    drawn = torch.softmax((-SHARPNESS * (said + rests)).masked_fill(~there, -torch.inf), 1)
    return (TIMES * (weights * error**2).sum(1) + 1 - (drawn * speeds).sum(1)).mean()


def _levelled(networks: Networks, data: Sequence[Problem]) -> Networks:
    """The same with a last bias such that good plans' times are right, in the mean over problems."""
    left = []
    for inputs, times, speeds, _ in data:
        good = speeds > 0.8 * speeds.max()
        left.append(float(np.mean(times[good] - np.array(networks(inputs[good])))))
    *others, last = networks.biases
    return replace(networks, biases=(*others, last + sum(left) / len(left)))
