"""Tensors of PyTorch as arguments: all types, lazy views, gradients, and what is refused with its reason."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ttc_llvm
from ttc_llvm.errors import ArrayError

RNG = np.random.default_rng(33)
AXES = (2, 0, 1)

pytestmark = pytest.mark.usefixtures("module_database")


@pytest.fixture(scope="module")
def torch() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("torch")


def bits(tensor: Any, torch: Any) -> Any:
    """The bytes of a tensor's elements, in order."""
    if not tensor.numel():  # of which views of other types may not exist
        return []
    return tensor.resolve_conj().resolve_neg().contiguous().view(torch.uint8).flatten().tolist()


TYPES = (
    "float32", "float64", "float16", "bfloat16", "complex64", "complex128", "complex32", "bool",
    "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu", "float4_e2m1fn_x2",
)  # fmt: skip


def tensor(torch: Any, name: str, *shape: int) -> Any:
    dtype = getattr(torch, name)
    if name == "bool":
        return torch.from_numpy(RNG.random(shape) < 0.5)
    if 0 in shape:
        return torch.empty(shape, dtype=dtype)
    raw = RNG.integers(0, 256, (*shape, dtype.itemsize), dtype=np.uint8)
    return torch.from_numpy(raw).view(dtype).reshape(shape)


@pytest.mark.filterwarnings("ignore:ComplexHalf")
@pytest.mark.parametrize("name", TYPES)
def test_tensors_of_all_types_come_back_as_tensors(torch: Any, name: str) -> None:
    if not hasattr(torch, name):
        pytest.skip(f"needs torch with {name}")
    for x in (tensor(torch, name, 4, 5, 6), tensor(torch, name, 0, 2, 3), tensor(torch, name, 7, 9, 6)[1::2, :, 2:]):
        for _ in range(4):  # the short way, too
            got = ttc_llvm.transpose(x, AXES)
            assert (type(got), got.dtype, got.is_contiguous()) == (torch.Tensor, x.dtype, True)
            assert bits(got, torch) == bits(x.permute(AXES), torch)
        out = torch.empty_like(x.permute(AXES))
        assert ttc_llvm.transpose(x, AXES, out=out) is out
        assert bits(out, torch) == bits(x.permute(AXES), torch)


@pytest.mark.filterwarnings("ignore:ComplexHalf")
@pytest.mark.parametrize("name", ["complex64", "complex128", "complex32"])
def test_lazy_views_are_resolved(torch: Any, name: str) -> None:
    x = torch.randn(4, 5, 6, dtype=torch.complex128).to(getattr(torch, name))
    views = {"conj": x.conj(), "negated": x.conj().imag, "both": x.conj()[1:, ::2].mT, "twice": x.conj().conj()}
    for view in views.values():
        assert bits(ttc_llvm.transpose(view), torch) == bits(view.permute(2, 1, 0), torch)
    if name != "complex32":
        assert torch.equal(ttc_llvm.transpose(x.conj(), alpha=2j), 2j * x.conj().permute(2, 1, 0))
        assert torch.equal(ttc_llvm.transpose(x.conj(), conjugate=True), x.permute(2, 1, 0))
        assert torch.equal(ttc_llvm.ascontiguousarray(x.mT.conj()), x.mT.conj())
    for view, word in ((x.conj(), "conjugated"), (x.conj().imag, "negated")):
        with pytest.raises(ArrayError, match=f"out is a lazily {word} view: pass the tensor that it is a view of"):
            ttc_llvm.transpose(view.resolve_conj().resolve_neg().clone(), (0, 1, 2), out=view)


def test_tensors_of_other_orders_axes_and_scalars(torch: Any) -> None:
    x = torch.randn(3, 4, 5, dtype=torch.float64)
    order: Any
    for order in "CFAK":
        got = ttc_llvm.transpose(x, [-1, 0, 1], order=order)
        assert torch.equal(got, x.permute(2, 0, 1))
        assert got.stride() == tuple(s // 8 for s in x.numpy().transpose(2, 0, 1).copy(order).strides)
    assert torch.equal(ttc_llvm.transpose(x, alpha=-2), -2 * x.permute(2, 1, 0))
    assert ttc_llvm.transpose(torch.tensor(5)).shape == ()
    out = torch.ones(5, 4, 3, dtype=torch.float32)
    ttc_llvm.transpose(x, out=out, alpha=3, beta=2)
    assert torch.allclose(out, (3 * x.permute(2, 1, 0) + 2).float())
    with pytest.raises(ArrayError, match=r"axes \(0, 0\) do not permute"):
        ttc_llvm.transpose(x, (0, 0))


def test_tensors_and_arrays_go_together(torch: Any) -> None:
    x = RNG.random((4, 5)).astype("f4")
    out = torch.zeros(5, 4)
    ttc_llvm.transpose(x, out=out)
    assert np.array_equal(out.numpy(), x.T)
    back = np.zeros((4, 5), "f4")
    assert ttc_llvm.transpose(out, out=back) is back
    assert np.array_equal(back, x)


def test_contiguous_tensors(torch: Any) -> None:
    x = torch.randn(3, 4)
    assert ttc_llvm.ascontiguousarray(x) is x
    got = ttc_llvm.ascontiguousarray(x.T)
    assert torch.equal(got, x.T) and got.is_contiguous()
    got = ttc_llvm.asfortranarray(x)
    assert torch.equal(got, x) and got.stride() == (1, 3)
    negated = torch.randn(3, 4, dtype=torch.complex64).conj().imag  # with gaps, which its resolved copy lacks
    got = ttc_llvm.ascontiguousarray(negated)
    assert torch.equal(got, negated) and got.is_contiguous()
    with pytest.raises(ArrayError, match="dtype 'f4' is for NumPy's arrays: torch converts its own"):
        ttc_llvm.ascontiguousarray(x, "f4")


def test_gradients_are_never_lost(torch: Any) -> None:
    x = torch.randn(3, 4, requires_grad=True)
    for _ in range(3):
        with pytest.raises(ArrayError, match=r"a requires a gradient.*a\.detach.*ttc_llvm\.torch\.transpose\(a, axes"):
            ttc_llvm.transpose(x)
    with pytest.raises(ArrayError, match=r"out requires a gradient.*pass out\.detach\(\)"):
        ttc_llvm.transpose(x.detach(), (0, 1), out=torch.randn(3, 4, requires_grad=True))
    with torch.no_grad():
        assert torch.equal(ttc_llvm.transpose(x), x.T)
        assert torch.equal(ttc_llvm.transpose(torch.nn.Parameter(torch.ones(2, 3))), torch.ones(3, 2))


def test_writing_to_what_a_gradient_needs_is_noticed(torch: Any) -> None:
    w, x = torch.randn(4, 3, requires_grad=True), torch.randn(4, 3)
    y = (w * x).sum()
    ttc_llvm.transpose(torch.randn(3, 4), out=x)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


REFUSED: dict[str, tuple[Callable[[Any], Any], str]] = {
    "sparse": (lambda torch: torch.eye(3).to_sparse(), r"a is sparse: pass a\.to_dense\(\)"),
    "csr": (lambda torch: torch.eye(3).to_sparse_csr(), r"a is sparse: pass a\.to_dense\(\)"),
    "meta": (lambda torch: torch.empty(3, 4, device="meta"), "a is on device meta: the CPU or a CUDA device"),
    "quantized": (
        lambda torch: torch.quantize_per_tensor(torch.rand(3), 0.1, 0, torch.qint8),
        r"a has dtype torch\.qint8, which is not supported",
    ),
    "nested": (lambda torch: torch.nested.nested_tensor([torch.ones(2), torch.ones(3)]), "a is nested: transpose its"),
}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", REFUSED)
def test_tensors_that_cannot_be_read(torch: Any, name: str) -> None:
    make, message = REFUSED[name]
    for call in (ttc_llvm.transpose, ttc_llvm.ascontiguousarray):
        with pytest.raises(ArrayError, match=message):
            call(make(torch))


def test_tensors_without_memory_of_their_own(torch: Any) -> None:
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        fake = torch.zeros(2, 3)
    with pytest.raises(ArrayError, match="a is a FakeTensor, which has no memory of its own"):
        ttc_llvm.transpose(fake)
    with pytest.raises(ArrayError, match="a is a Tensor that cannot be read"):
        torch.vmap(ttc_llvm.transpose)(torch.zeros(4, 2, 3))


def test_expanded_tensors_are_read_and_never_written(torch: Any) -> None:
    x = torch.arange(3.0).expand(4, 3)
    assert torch.equal(ttc_llvm.transpose(x), x.T)
    with pytest.raises(ArrayError, match=r"elements of out share memory .*strides"):
        ttc_llvm.transpose(torch.ones(3, 4), out=x)


def test_solutions_take_tensors(torch: Any) -> None:
    problem = ttc_llvm.Problem((1, 0), (5, 7), "bf16")
    solution = ttc_llvm.compile(problem, 1, 1)
    a, b = torch.randn(7, 5).bfloat16(), torch.zeros(5, 7).bfloat16()
    assert solution(a, b) is b
    assert torch.equal(b, a.T)
    solution = ttc_llvm.compile(ttc_llvm.Problem((1, 0), (5, 7), "c"), 1, 1)
    c, d = torch.randn(7, 5).cfloat(), torch.zeros(5, 7).cfloat()
    solution(c, d)
    assert torch.equal(d, c.T)
    with pytest.raises(ArrayError, match=r"A is a lazily conjugated view: pass its storage, A\.resolve_conj\(\)"):
        solution(c.conj(), d)
    with pytest.raises(ArrayError, match="B is a lazily conjugated view"):
        solution(c, d.conj())
    with pytest.raises(ArrayError, match=r"B requires a gradient.*B\.detach\(\)"):
        solution(c, d.requires_grad_())




def test_groups_take_tensors_and_make_them(torch: Any) -> None:
    tensors = [tensor(torch, "bfloat16", *shape) for shape in ((2, 3, 4), (5, 1, 2), (0, 2, 3))]
    plan = ttc_llvm.grouped([x.shape for x in tensors], AXES, torch.bfloat16)
    made = plan(tensors)
    out = [torch.zeros_like(x.permute(AXES).contiguous()) for x in tensors]
    version = out[0]._version
    assert plan(tensors, out) is out and out[0]._version > version
    for x, new, into in zip(tensors, made, out, strict=True):
        assert bits(new, torch) == bits(into, torch) == bits(x.permute(AXES), torch)
        assert new.dtype == torch.bfloat16
    with pytest.raises(ArrayError, match=r"list_a\[0\] requires a gradient"):
        ttc_llvm.grouped([(2, 3)], (1, 0), torch.float32)([torch.zeros(2, 3, requires_grad=True)])
