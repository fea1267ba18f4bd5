"""Other systems, for child processes: this one with the modules, functions and flags taken away that those lack.

`pretend` comes first in such a process: what Python's own modules import for this system is loaded before.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import platform
import signal
import sys
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

for _name in (
    "argparse", "asyncio", "concurrent.futures.process", "ctypes.util", "importlib.metadata", "multiprocessing",
    "numpy.testing", "platformdirs", "rich.console", "rich.progress", "shutil", "subprocess", "tempfile", "webbrowser",
):  # fmt: skip
    import_module(_name)  # which asks for the system while it is imported

CANNOT = 77  # the status of a process that cannot become what it should be
UNIX = ("fcntl", "grp", "pwd", "resource", "syslog", "termios", "tty")
# sys.platform, platform.machine(), and what is missing there.
SYSTEMS: dict[str, tuple[str, str, tuple[str, ...], tuple[str, ...], tuple[str, ...], tuple[str, ...]]] = {
    "macOS": ("darwin", "arm64", (), ("sched_*", "O_DIRECT"), ("sigtimedwait",), ("MADV_HUGEPAGE",)),
    "Windows": (
        "win32", "AMD64", UNIX,
        ("sched_*", "fork*", "register_at_fork", "get[ug]id", "gete[ug]id", "getgroups", "set*id", "O_NOFOLLOW",
         "O_CLOEXEC", "O_NONBLOCK", "killpg", "fchmod", "chown", "lchown", "sysconf*", "statvfs", "fstatvfs", "uname",
         "pread", "setsid", "mkfifo", "waitid", "posix_*", "getpgid"),
        ("SIGHUP", "SIGALRM", "SIGKILL", "SIGUSR?", "SIGPIPE", "SIGQUIT", "setitimer", "getitimer", "alarm", "ITIMER_*",
         "pthread_*", "SIG_*BLOCK", "SIG_SETMASK", "sig*wait*", "valid_signals"),
        ("MAP_*", "MADV_*", "PROT_*"),
    ),
    "RISC-V": ("linux", "riscv64", (), (), (), ()),
    "FreeBSD": ("freebsd14", "amd64", (), ("sched_*",), (), ("MADV_HUGEPAGE",)),
}  # fmt: skip


class _Absent(MetaPathFinder):
    """Modules that cannot be imported."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = names

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname.partition(".")[0] in self.names:
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)
        return None


def pretend(system: str) -> None:
    """Turn this process into one of that system, as far as Python shows it."""
    name, machine, modules, *missing = SYSTEMS[system]
    sys.platform = name
    platform.machine = lambda: machine
    for module, patterns in zip((os, signal, mmap), missing, strict=True):
        for one in [one for one in dir(module) if any(Path(one).match(pattern) for pattern in patterns)]:
            delattr(module, one)
    hide(*modules)


def hide(*names: str) -> None:
    """Take modules away, also those that are loaded."""
    for loaded in [loaded for loaded in sys.modules if loaded.partition(".")[0] in names]:
        del sys.modules[loaded]
    sys.meta_path.insert(0, _Absent(names))


def break_library() -> None:
    """llvmlite is there, and its library cannot be loaded."""

    def torn(*_: object) -> None:
        raise OSError("torn")

    import llvmlite.binding

    llvmlite.binding.initialize_all_targets = torn


def forbid_code() -> None:
    """What this process writes, it may not run: Linux 6.3 can forbid it, as systemd's MemoryDenyWriteExecute does."""
    system = ctypes.CDLL(None, use_errno=True)
    if system.prctl(65, 1, 0, 0, 0):  # PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN
        raise SystemExit(CANNOT)


FAULTS: dict[str, Callable[[], object]] = {
    "no llvmlite": partial(hide, "llvmlite"),
    "a broken llvmlite": lambda: sys.modules.__setitem__("llvmlite.binding", None),  # type: ignore[assignment]
    "a library that does not load": break_library,
    "no executable memory": forbid_code,
    **{system: partial(pretend, system) for system in SYSTEMS},
}
