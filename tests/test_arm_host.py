"""AArch64 machines as Linux describes them: which CPU, which features, and the target that they make."""

from __future__ import annotations

import platform
from functools import partial
from types import MappingProxyType

import pytest

from ttc_llvm.errors import TargetError
from ttc_llvm.machine import arm_features, cpu_features, host, lookup
from ttc_llvm.runtime import backend, here, hwcap
from ttc_llvm.runtime.described import described
from ttc_llvm.runtime.hwcap import Processor
from ttc_llvm.runtime.told import Told

ANSWERS = Told("22.1.0", "aarch64-unknown-linux-gnu", "generic", "-aes,-sve")
BASE = sum(1 << bit for bit in (0, 1, 2, 3, 4, 5, 6, 7))  # ARMv8.0 with cryptography: Cortex-A72 in a Raspberry Pi 4
N1 = BASE | sum(1 << bit for bit in (8, 9, 10, 11, 12, 15, 16, 20, 28))
V1 = N1 | sum(1 << bit for bit in (13, 14, 17, 21, 22, 23, 24, 25, 26, 27))
V1_MORE = 1 << 0 | sum(1 << bit for bit in (7, 8, 9, 12, 13, 14, 15, 16))
SVE2 = 1 << 1
A64FX = BASE | sum(1 << bit for bit in (8, 9, 10, 12, 14, 22))


def core(number: int, implementer: int, part: int) -> str:
    """A paragraph of /proc/cpuinfo, as Linux writes it on AArch64."""
    return (f"processor\t: {number}\nBogoMIPS\t: 243.75\nFeatures\t: fp asimd evtstrm crc32 atomics\n"
            f"CPU implementer\t: 0x{implementer:02x}\nCPU architecture: 8\nCPU variant\t: 0x3\n"
            f"CPU part\t: 0x{part:03x}\nCPU revision\t: 1\n\n")  # fmt: skip


X86 = "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 207\n\n"


@pytest.mark.parametrize(
    ("cores", "cpu"),
    [
        ([(0x41, 0xD08)] * 4, "cortex-a72"),
        ([(0x41, 0xD0C)] * 64, "neoverse-n1"),  # Graviton 2, Altra
        ([(0x41, 0xD40)] * 2, "neoverse-v1"),  # Graviton 3
        ([(0x41, 0xD4F)] * 2, "neoverse-v2"),  # Graviton 4, Grace
        ([(0x41, 0xD49)], "neoverse-n2"),
        ([(0x61, 0x22)] * 4 + [(0x61, 0x23)] * 4, "apple-m1"),  # Asahi
        ([(0x61, 0x32)] * 4 + [(0x61, 0x33)] * 4, "apple-m2"),
        ([(0x46, 0x001)] * 48, "a64fx"),
        ([(0xC0, 0xAC3)], "ampere1"),
        ([(0x41, 0xD05)] * 4 + [(0x41, 0xD0B)] * 2, "cortex-a76"),  # of two kinds: the fast ones
        ([(0x41, 0xD0B)] * 2 + [(0x41, 0xFFF)], "cortex-a76"),
        ([(0x51, 0x001)], "generic"),
        ([], "generic"),
    ],
)
def test_cpus_are_told_by_implementer_and_part(cores: list[tuple[int, int]], cpu: str) -> None:
    text = "".join(core(number, *ids) for number, ids in enumerate(cores))
    assert arm_features.cpu_of(text) == cpu
    assert cpu in lookup.cpus("aarch64")


@pytest.mark.parametrize("text", ["", X86, "CPU implementer\t: 0x41\n", "CPU implementer : ?\nCPU part : 0xd0c\n"])
def test_other_texts_are_of_no_cpu_that_is_known(text: str) -> None:
    assert arm_features.cpu_of(text) == "generic"


@pytest.mark.parametrize(
    ("processor", "row", "has", "lacks"),
    [
        (Processor("cortex-a72", (BASE, 0), 0), "neon", {"neon", "crc"}, {"lse", "sve", "dotprod"}),
        (Processor("neoverse-n1", (N1, 0), 0), "neon", {"lse", "rcpc", "dotprod", "fullfp16"}, {"sve", "bf16"}),
        (Processor("neoverse-v1", (V1, V1_MORE), 256), "sve256", {"sve", "bf16", "i8mm"}, {"sve2"}),
        # As a virtual machine hides it, or an older kernel:
        (Processor("neoverse-v1", (V1 & ~(1 << 22), 0), 0), "neon", {"lse", "fp16fml"}, {"sve", "sve2", "bf16"}),
        (Processor("neoverse-v1", (V1, V1_MORE), 128), "sve", {"sve"}, {"sve2"}),
        (Processor("neoverse-v2", (V1, V1_MORE | SVE2), 128), "sve", {"sve", "sve2"}, set()),
        (Processor("a64fx", (A64FX, 0), 512), "sve512", {"sve", "complxnum"}, {"rcpc", "dotprod"}),
        (Processor("generic", (V1, V1_MORE | SVE2), 2048), "sve512", {"sve2"}, set()),
        (Processor("generic", (0b11, 0), 0), "neon", {"neon", "fp-armv8"}, {"crc", "lse"}),
        (Processor("generic", (V1, SVE2), 0), "neon", {"lse"}, {"sve", "sve2"}),
    ],
)
def test_machines_become_targets(
    processor: Processor, row: str, has: set[str], lacks: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hwcap, "processor", lambda: processor)
    own, found = described(ANSWERS)
    expected = lookup.find(row)
    assert (own.triple, own.cpu, own.family) == (ANSWERS.triple, processor.cpu, "aarch64")
    assert (own.vector_bits, own.scalable, own.exchange) == (expected.vector_bits, expected.scalable, expected.exchange)
    switches = own.features.split(",")
    assert {f"+{name}" for name in has} | {f"-{name}" for name in lacks} <= {*switches}
    assert switches == sorted(switches, key=lambda switch: (switch[0] == "+", switch[1:]))
    assert host.missing(own, found) == ()
    monkeypatch.setattr(backend, "_host", lambda: (own, MappingProxyType({**found})))
    runs = {name for name in ("neon", "sve", "sve256", "sve512", "neoverse-n1", "neoverse-v2", "a64fx", "haswell")
            if backend.runs_here(lookup.find(name))}  # fmt: skip
    wanted = {"neon"} | {f"sve{bits}".removesuffix("128") for bits in (128, 256, 512) if bits <= processor.sve_bits}
    assert runs & {"neon", "sve", "sve256", "sve512", "haswell"} == wanted
    assert ("neoverse-n1" in runs) == all(found[name] for name in ("lse", "rdm", "rcpc", "dotprod", "fullfp16"))


@pytest.mark.parametrize("processor", [Processor("cortex-a72", (BASE, 0), 0),
                                       Processor("neoverse-v1", (V1 & ~(1 << 22), 0), 0),
                                       Processor("apple-m1", (V1 & ~(1 << 22), 0), 0),
                                       Processor("neoverse-v2", (V1, V1_MORE | SVE2), 128)])  # fmt: skip
def test_llvm_makes_code_of_what_is_there(processor: Processor, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sum of vectors: NEON's, or SVE's where that is there, and never where a virtual machine hides it."""
    monkeypatch.setattr(hwcap, "processor", lambda: processor)
    own, _ = described(ANSWERS)
    length = "vscale x " if own.scalable else ""
    text = backend.assembly(f"""
define <{length}4 x float> @f(<{length}4 x float> %a, <{length}4 x float> %b) {{
  %r = fadd <{length}4 x float> %a, %b
  ret <{length}4 x float> %r
}}
define i64 @add(ptr %p) {{
  %r = atomicrmw add ptr %p, i64 1 seq_cst
  ret i64 %r
}}
""", own)
    assert ("fadd\tz0.s" in text) == own.scalable
    assert ("ldaddal" in text) == ("+lse" in own.features.split(","))


def test_every_cpu_has_its_features() -> None:
    for cpu in sorted(lookup.cpus("aarch64")):
        needed = cpu_features.needs(lookup.find(cpu)) if cpu != "generic" else cpu_features.needs(lookup.find("neon"))
        assert {"neon", "fp-armv8"} <= needed
    assert {"sve", "sve2", "sve128", "bf16"} <= cpu_features.needs(lookup.find("grace"))
    assert "sve512" in cpu_features.needs(lookup.find("a64fx"))
    assert "sve" not in cpu_features.needs(lookup.scalar(lookup.find("neon")))


def test_machines_that_differ_have_identities_that_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    """What stored code depends on: the CPU, each word of capabilities, and how long registers are in this process."""
    processors = [Processor("generic", (1, 2), 0), Processor("cortex-a72", (1, 2), 0), Processor("generic", (3, 2), 0),
                  Processor("generic", (1, 3), 0), Processor("generic", (1, 2), 128)]  # fmt: skip
    found = set()
    for processor in processors:
        monkeypatch.setattr(hwcap, "processor", partial(Processor, *processor))
        found.add(hwcap.identity())
    assert len(found) == len(processors)
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    ask = vars(here.here)["__wrapped__"]
    first = ask()
    monkeypatch.setattr(hwcap, "processor", lambda: processors[0])
    assert first is not None and ask() != first
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    assert ask() is None


def test_machines_of_other_triples_are_refused() -> None:
    with pytest.raises(TargetError, match="LLVM takes this machine for riscv64-unknown-linux-gnu: kernels run on"):
        described(ANSWERS._replace(triple="riscv64-unknown-linux-gnu"))
