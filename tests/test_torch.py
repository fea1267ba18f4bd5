"""The operator for PyTorch: results, gradients, compilers, batches, errors, devices."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from known_layouts import forget, forgotten, served_by
from processes import together

import ttc_llvm
from ttc_llvm.errors import ArrayError, ProblemError

MOVED = (
    "bool", "uint8", "int8", "int16", "uint16", "int32", "int64", "float16", "bfloat16", "float8_e4m3fn", "float32",
    "float64", "complex32", "complex64", "complex128",
)  # fmt: skip
LAYOUTS = {
    "contiguous": lambda x: x,
    "permuted": lambda x: x.permute(2, 0, 1),
    "a slice": lambda x: x[1:, ::2],
    "an offset": lambda x: x[..., 1:],
    "expanded": lambda x: x[:, :1].expand(-1, 6, -1),
    "empty": lambda x: x[:0],
    "a vector": lambda x: x[0, 0],
    "a number": lambda x: x[0, 0, 0],
}
COMPILERS = ("eager", "aot_eager", "inductor")


@pytest.fixture(scope="module")
def torch() -> Any:
    return pytest.importorskip("torch")


@pytest.fixture
def op(torch: Any, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The function, with nothing remembered from other tests."""
    monkeypatch.setenv("TTC_DATABASE", str(tmp_path_factory.getbasetemp() / "solutions"))
    with forgotten():
        yield ttc_llvm.torch.transpose


def same(torch: Any, found: Any, wanted: Any) -> None:
    """Equal bit for bit, contiguous, of the same type and device, and of memory of its own."""
    assert (found.dtype, found.device, found.shape) == (wanted.dtype, wanted.device, wanted.shape)
    assert found.is_contiguous() and not found.is_conj()
    wanted = wanted.resolve_conj().clone(memory_format=torch.contiguous_format)
    assert torch.equal(*(x.flatten().view(torch.uint8) for x in (found, wanted)))


def random(torch: Any, dtype: str, shape: tuple[int, ...]) -> Any:
    """A tensor of random bits, of 0 and 1 where it is of truth values."""
    size = getattr(torch, dtype).itemsize
    bits = np.random.default_rng(3).integers(0, 2 if dtype == "bool" else 256, (*shape[:-1], shape[-1] * size), "u1")
    return torch.from_numpy(bits).view(getattr(torch, dtype))


# --- results ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", MOVED)
def test_every_type_is_moved_bit_for_bit(torch: Any, op: Any, dtype: str) -> None:
    x = random(torch, dtype, (3, 4, 6))
    for axes in ((2, 0, 1), (-1, 1, 0), (0, 1, 2)):
        for _ in range(4):  # the long way, and the short one
            same(torch, op(x, axes), x.permute(axes))
    same(torch, op(x), x.permute(2, 1, 0))
    same(torch, op(x, [1, 0, 2]), x.permute(1, 0, 2))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "complex128"])
def test_any_strides(torch: Any, op: Any, layout: str, dtype: str) -> None:
    x = LAYOUTS[layout](random(torch, dtype, (4, 5, 6)))
    axes = tuple(reversed(range(x.dim())))
    for _ in range(4):
        same(torch, op(x, axes), x.permute(axes))


@pytest.mark.parametrize("conjugate", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_scalars(torch: Any, op: Any, dtype: str, conjugate: bool) -> None:
    x = torch.randn(3, 4, 5, dtype=getattr(torch, dtype))
    for alpha in (1, 0, -2, 0.5, *((2 - 1j, 1j) if x.is_complex() else (3 + 0j,))):
        wanted = (x.conj() if conjugate else x).permute(1, 2, 0) * (alpha if x.is_complex() else complex(alpha).real)
        torch.testing.assert_close(op(x, (1, 2, 0), alpha=alpha, conjugate=conjugate), wanted.contiguous())


def test_lazy_views_and_large_tensors(torch: Any, op: Any) -> None:
    z = torch.randn(3, 4, 5, dtype=torch.complex64)
    same(torch, op(z.conj(), (2, 0, 1)), z.conj().permute(2, 0, 1))
    same(torch, op(z.conj().imag, (2, 0, 1)), z.conj().imag.permute(2, 0, 1).resolve_neg())
    large = torch.randn(513, 700, 3)
    for _ in range(3):
        same(torch, op(large, (2, 1, 0)), large.permute(2, 1, 0))


def test_returning_layouts_are_served_the_short_way(torch: Any, op: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from ttc_llvm.torch import kernels

    x = torch.randn(3, 4, 5)
    for _ in range(3):
        op(x, (2, 0, 1))
    monkeypatch.setattr(kernels, "_moved", lambda *_: pytest.fail("the long way"))
    same(torch, op(x + 1, (2, 0, 1)), (x + 1).permute(2, 0, 1))


def test_layouts_that_have_moved_enough_are_looked_at_anew(torch: Any, op: Any) -> None:
    """The kernel of their family is then replaced by one of their own."""
    forget(20 * 16384)
    x = torch.randn(3, 4, 5)
    served = []
    for _ in range(40):
        same(torch, op(x, (2, 0, 1)), x.permute(2, 0, 1))
        served.append(served_by(x.numpy(), (2, 0, 1)))
    assert (served[0], served[-1]) == ("family", "own")


def test_addresses_that_are_odd_take_the_long_way(torch: Any, op: Any) -> None:
    memory = bytearray(np.random.default_rng(1).bytes(8 * 61))
    x = torch.frombuffer(memory, dtype=torch.float64, count=60).view(3, 4, 5)
    at_odd = torch.frombuffer(memory, dtype=torch.float64, count=60, offset=4).view(3, 4, 5)
    for _ in range(4):
        same(torch, op(x, (2, 0, 1)), x.permute(2, 0, 1))
        same(torch, op(at_odd, (2, 0, 1)), at_odd.permute(2, 0, 1))


def test_threads_call_it_at_once(torch: Any, op: Any) -> None:
    x = torch.randn(40, 30, 20)
    found: list[Any] = []
    together(lambda _: found.extend(op(x, (2, 0, 1)) for _ in range(50)), range(4))
    assert len(found) == 200 and all(torch.equal(y, x.permute(2, 0, 1)) for y in found)


def test_it_uses_no_more_threads_than_torch(torch: Any, op: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from ttc_llvm.arrays import assignment
    from ttc_llvm.runtime import runtime

    asked: list[int] = []
    monkeypatch.setattr(runtime, "num_threads", lambda: 7)
    monkeypatch.setattr(torch, "get_num_threads", lambda: 3)
    engine = SimpleNamespace(
        assign=lambda of, to, scale, threads, *_, **__: asked.append(threads), memory_moved=lambda *_: False
    )
    monkeypatch.setattr(assignment, "mover", lambda: engine)
    op(torch.randn(300, 400), (1, 0))
    op(torch.randn(3, 4), (1, 0))
    assert asked == [3, 1]


# --- gradients, compilers, batches ------------------------------------------------------------------------


@pytest.mark.parametrize("conjugate", [False, True])
@pytest.mark.parametrize("alpha", [1, 2.5, 1.5 - 2j])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_gradients_of_any_order(torch: Any, op: Any, dtype: str, alpha: complex, conjugate: bool) -> None:
    if dtype == "float64" and isinstance(alpha, complex):
        return
    x = torch.randn(3, 4, 2, dtype=getattr(torch, dtype), requires_grad=True)

    def function(x: Any) -> Any:
        return op(x, (2, -3, 1), alpha=alpha, conjugate=conjugate)

    assert torch.autograd.gradcheck(function, x)
    assert torch.autograd.gradgradcheck(function, x)
    (found,) = torch.autograd.grad(function(x).abs().square().sum(), x)
    (wanted,) = torch.autograd.grad((abs(alpha) * x).abs().square().sum(), x)
    torch.testing.assert_close(found, wanted)


@pytest.mark.parametrize("dtype", ["float32", "complex64", "bfloat16"])
@pytest.mark.parametrize("gradient", [False, True])
def test_opcheck(torch: Any, op: Any, dtype: str, gradient: bool) -> None:
    x = torch.randn(3, 4, 5).to(getattr(torch, dtype)).requires_grad_(gradient)
    scalars: list[tuple[Any, ...]] = [()] if dtype == "bfloat16" else [(), (2.0,), (2.0, 0.0, True)]
    for given in [*scalars, *([(2.0, -1.0, True)] if x.is_complex() else [])]:
        torch.library.opcheck(torch.ops.ttc_llvm.transpose.default, (x, (2, -3, 1), *given))


@pytest.mark.parametrize("compiler", COMPILERS)
def test_whole_graphs_are_compiled(torch: Any, op: Any, compiler: str, tmp_path: Any) -> None:
    """Of any shape, with gradients; PyTorch's own compiler needs one of C++."""
    testing = importlib.import_module("torch._dynamo.testing")
    torch._dynamo.reset()
    counted = testing.CompileCounterWithBackend(compiler)

    def function(x: Any) -> Any:
        return op(x * 2, (1, 0), alpha=3).sin() + op(x)

    compiled = torch.compile(function, fullgraph=True, backend=counted, dynamic=True)
    for rows in (3, 4, 9):
        x = torch.randn(rows, 7, requires_grad=True)
        y = compiled(x)
        torch.testing.assert_close(y, (6 * x.t()).sin() + x.t())
        (found,) = torch.autograd.grad(y.sum(), x)
        torch.testing.assert_close(found, 6 * (6 * x).cos() + 1)
    assert counted.frame_count == 1


def test_programs_are_exported(torch: Any, op: Any) -> None:
    class Model(torch.nn.Module):  # type: ignore[misc]
        def forward(self, x: Any) -> Any:
            return op(x, (1, 0, 2))

    x = torch.randn(3, 4, 5)
    exported = torch.export.export(Model(), (x,))
    assert "ttc_llvm.transpose" in str(exported)
    same(torch, exported.module()(x), x.permute(1, 0, 2))


@pytest.mark.parametrize("where", [0, 1, 2, -1])
def test_batches(torch: Any, op: Any, where: int) -> None:
    x = torch.randn(3, 5, 4)
    found = torch.vmap(lambda x: op(x, (1, -2), alpha=2), in_dims=where)(x)
    torch.testing.assert_close(found, 2 * x.movedim(where, 0).transpose(1, 2))
    nested = torch.vmap(torch.vmap(op), in_dims=where)(x)
    torch.testing.assert_close(nested, x.movedim(where, 0))


def test_function_transforms(torch: Any, op: Any) -> None:
    x = torch.randn(3, 4, dtype=torch.float64)
    found = torch.func.jacrev(lambda x: op(x, alpha=2))(x)
    wanted = torch.func.jacrev(lambda x: 2 * x.t())(x)
    torch.testing.assert_close(found, wanted)
    torch.testing.assert_close(torch.func.jacfwd(lambda x: op(x, alpha=2))(x), wanted)

    def cubes(x: Any) -> Any:
        return (op(x) ** 3).sum()

    torch.testing.assert_close(torch.func.grad(cubes)(x), 3 * x**2)
    second = torch.diag(6 * x.flatten()).view(3, 4, 3, 4)
    for forwards, backwards in ((torch.func.jacfwd, torch.func.jacrev), (torch.func.jacrev, torch.func.jacfwd)):
        torch.testing.assert_close(forwards(backwards(cubes))(x), second)
    torch.testing.assert_close(torch.func.jacfwd(torch.func.jacfwd(cubes))(x), second)
    torch.testing.assert_close(torch.vmap(torch.func.grad(cubes))(x.expand(2, 3, 4)), 3 * x.expand(2, 3, 4) ** 2)


@pytest.mark.parametrize("conjugate", [False, True])
def test_forward_mode(torch: Any, op: Any, conjugate: bool) -> None:
    """Of the operator alone, PyTorch would take the tangent for zero."""
    x = torch.randn(3, 4, dtype=torch.complex128, requires_grad=True)
    function = lambda x: op(x, alpha=2 - 1j, conjugate=conjugate)  # noqa: E731
    assert torch.autograd.gradcheck(function, x, check_forward_ad=True, check_batched_forward_grad=True)
    assert torch.autograd.gradgradcheck(function, x, check_fwd_over_rev=True, check_rev_over_rev=True)


# --- errors -----------------------------------------------------------------------------------------------

CUBE = "torch.ones(3, 4, 5)"
WRONG = (
    (f"op({CUBE}, 1)", ArrayError, "axes = 1 is not a sequence: write transpose(x, (1, 0)), as for torch.permute"),
    (f"op({CUBE}, (0, 0, 1))", ArrayError, "axes (0, 0, 1) do not permute the 3 dimensions of x"),
    (f"op({CUBE}, (0, 1))", ArrayError, "axes (0, 1) do not permute the 3 dimensions of x"),
    (f"op({CUBE}, (0, 1, 3))", ArrayError, "axes (0, 1, 3) do not permute the 3 dimensions of x"),
    (f"op({CUBE}, (0.0, 1, 2))", ArrayError, "axes[0] 0.0 is not an integer"),
    (f"op({CUBE}, 'abc')", ArrayError, "axes 'abc' is not a sequence of integers"),
    (f"op({CUBE}, (0, 1, 2**80))", ArrayError, f"axes (0, 1, {2**80}) do not permute the 3 dimensions of x"),
    (f"op({CUBE}, alpha='2')", ProblemError, "alpha = '2' is not a number"),
    (f"op({CUBE}, alpha=None)", ProblemError, "alpha = None is not a number"),
    (f"op({CUBE}, alpha=1j)", ProblemError, "alpha = 0+1j is complex, and torch.float32 is real"),
    (f"op({CUBE}, alpha=torch.ones(()))", ProblemError, "alpha is a tensor: pass a number, or multiply the result"),
    (f"op({CUBE}, conjugate=3)", ProblemError, "conjugate = 3 is neither True nor False"),
    (f"op({CUBE}.half(), alpha=2)", ProblemError, "torch.float16 is moved only: alpha = 2 and conjugate are for float"),
    (f"op({CUBE}.to_sparse())", ArrayError, "x has layout torch.sparse_coo: pass x.to_dense()"),
    ("op(torch.nested.nested_tensor([torch.ones(2, 3)]))", ArrayError, "x is nested: transpose its tensors one by one"),
    ("op([[1.0]])", ArrayError, "x is a list: it must be a torch.Tensor; ttc_llvm.transpose takes other arrays"),
)  # fmt: skip


@pytest.mark.parametrize(("call", "error", "message"), WRONG)
def test_mistakes_are_one_sentence(torch: Any, op: Any, call: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error) as raised:
        eval(call, {"torch": torch, "op": op})
    assert message in str(raised.value) and "\n" not in str(raised.value)


def test_shapes_are_checked_before_anything_runs(torch: Any, op: Any) -> None:
    x = torch.ones(3, 4, 5, device="meta")
    assert op(x, (2, 0, 1)).shape == (5, 3, 4) and op(x).device.type == "meta"
    with pytest.raises(ArrayError, match="do not permute"):
        op(x, (0, 1, 1))
    with pytest.raises(ProblemError, match="is moved only"):
        op(x.half(), alpha=2)


def test_without_torch_it_is_an_import_error() -> None:
    code = "import sys; sys.modules['torch'] = None\nimport ttc_llvm\n"
    for use, error in (("import ttc_llvm.torch", "ImportError"), ("ttc_llvm.torch", "AttributeError")):
        done = subprocess.run([sys.executable, "-c", code + use], capture_output=True, text=True, check=False)
        last = done.stderr.strip().splitlines()[-1]
        assert last.startswith(f"{error}: ttc_llvm.torch needs PyTorch 2.5 or later: pip install torch")


# --- devices ----------------------------------------------------------------------------------------------


def test_cuda_tensors_take_the_way_of_arrays_on_devices(
    torch: Any, op: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stand-in for a tensor on a device, as PyTorch's dispatcher would hand it over."""
    from ttc_llvm.arrays.call import Call
    from ttc_llvm.torch import kernels

    asked: list[Call] = []

    def transposed(x: Any, call: Call) -> str:
        asked.append(call)
        return "result"

    monkeypatch.setattr(kernels, "transposed", transposed)
    x = torch.ones(3, 4, 5, dtype=torch.complex64)
    assert kernels.on_cuda(x, [2, 0, 1]) == "result"
    assert kernels.on_cuda(x, [2, 0, 1], 2.0, 1.0, True) == "result"
    assert kernels.on_cuda(x.real, [2, 0, 1], 2.0, 0.0, True) == "result"
    scalars = [(1.0, 0, False), (2 + 1j, 0, True), (2.0, 0, False)]
    assert asked == [Call((2, 0, 1), None, *one, "C", None, 1, None) for one in scalars]
    with pytest.raises(ArrayError, match="do not permute"):
        kernels.on_cuda(x, [0, 0, 1])
    assert torch._C._dispatch_has_kernel_for_dispatch_key("ttc_llvm::transpose", "CUDA")


def test_other_devices_have_torchs_own_operators(torch: Any, op: Any) -> None:
    from ttc_llvm.torch import kernels

    z = torch.randn(3, 4, 5, dtype=torch.complex64)
    for scalars in ((), (2.0,), (2.0, -1.0, True)):
        found = kernels.elsewhere(z, [2, 0, 1], *scalars)
        torch.testing.assert_close(found, kernels.on_host(z, [2, 0, 1], *scalars))
        assert found.is_contiguous() and not found.is_conj()
    same(torch, kernels.elsewhere(z[:1, :1], [0, 1, 2]), z[:1, :1])
    assert kernels.elsewhere(z, [0, 1, 2]).data_ptr() != z.data_ptr()
