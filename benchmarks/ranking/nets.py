"""Trains the networks of the cost model (`tuning/networks.py`) with PyTorch; `fit.py` calls it.

A network learns two things at once: log(time) relative to the problem's other plans, good ones weighted more, and to
put fast plans first. For the second, a plan is drawn with a probability that falls with the time that the network
expects, with what needs no fit; the relative speed of the plan drawn is to be large.
"""

from __future__ import annotations

import itertools
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
MORE_EPOCHS, LOWER_RATE, SOON = 30, 1e-3, 0.2  # of networks that are trained on; the part in which the rate rises
SHARPNESS = 20.0  # of the draw: log(time) times this, and so its weight beside that of the times
TIMES = 10.0
LAYERS = (0, 2, 4)  # those of a network that have weights

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
    return _levelled(_networks(columns, mean, scale, [_trained(padded, seed) for seed in range(count)]), data)


def trained_on(networks: Networks, data: Sequence[Problem]) -> Networks:
    """These networks, and beside each of them the same one after it has seen these problems, too."""
    torch.set_num_threads(1)
    padded, count = _padded(data, networks.mean, networks.scale), len(networks.weights[0])
    layers = [_copied(networks, number % count) for number in range(2 * count)]
    for number, net in enumerate(layers[count:]):
        torch.manual_seed(number)
        _train(net, padded, MORE_EPOCHS, LOWER_RATE, SOON)
    return _levelled(_networks(networks.columns, networks.mean, networks.scale, layers), data)


def _networks(columns: tuple[str, ...], mean: np.ndarray, scale: np.ndarray, layers: list[nn.Sequential]) -> Networks:
    weights = tuple(_stored(net[i].weight.T for net in layers) for i in LAYERS)
    biases = tuple(_stored(net[i].bias[None] for net in layers) for i in LAYERS)
    return Networks(columns, mean, scale, weights, biases)


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
    net = _made(padded[0].shape[2], WIDTH, WIDTH)
    _train(net, padded, EPOCHS, RATE)
    return net


def _made(*sizes: int) -> nn.Sequential:
    """A network with layers of these sizes, and one of 1."""
    first, second, third = itertools.pairwise((*sizes, 1))
    return nn.Sequential(nn.Linear(*first), nn.SiLU(), nn.Linear(*second), nn.SiLU(), nn.Linear(*third))


def _copied(networks: Networks, number: int) -> nn.Sequential:
    """One of these networks, to be trained on."""
    net = _made(*(weights.shape[1] for weights in networks.weights))
    with torch.no_grad():
        for i, weights, biases in zip(LAYERS, networks.weights, networks.biases, strict=True):
            net[i].weight.copy_(torch.tensor(weights[number].T))
            net[i].bias.copy_(torch.tensor(biases[number, 0]))
    return net


def _train(
    net: nn.Sequential, padded: tuple[torch.Tensor, ...], epochs: int, rate: float, rising: float = 0.3
) -> None:
    """Train for so many epochs. rising: the part of them in which the rate rises to this one."""
    optimiser = torch.optim.AdamW(net.parameters(), lr=rate, weight_decay=DECAY)
    problems = len(padded[0])
    steps = epochs * -(-problems // BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, rate, total_steps=steps, pct_start=rising)
    for _ in range(epochs):
        for rows in torch.randperm(problems).split(BATCH):
            optimiser.zero_grad()
            _loss(net, *(values[rows] for values in padded)).backward()
            optimiser.step()
            schedule.step()


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
