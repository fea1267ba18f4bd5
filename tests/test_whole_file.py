"""Single files that appear whole or not at all."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest
from processes import PATIENCE

from ttc_llvm import cli
from ttc_llvm.native import marks, whole_file


def test_a_file_is_written_and_replaced_with_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    whole_file.write(path, "h\u00e9")
    path.chmod(0o640)
    whole_file.write(path, b"new")
    assert path.read_bytes() == b"new"
    assert path.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("old", ["old", None])
def test_what_fails_half_way_leaves_the_old_file(tmp_path: Path, old: str | None) -> None:
    path = tmp_path / "page.html"
    if old is not None:
        path.write_text(old)
    with pytest.raises(KeyboardInterrupt), whole_file.whole_file(path) as stream:
        stream.write(b"half")
        stream.flush()
        assert not path.exists() if old is None else path.read_text() == old
        raise KeyboardInterrupt
    assert [item.read_text() for item in tmp_path.iterdir()] == ([] if old is None else [old])


def test_links_stay_links(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_text("old")
    link.symlink_to(real)
    whole_file.write(link, "new")
    assert link.is_symlink()
    assert real.read_text() == "new"


def test_pipes_are_written_as_they_are(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    whole_file.write(pipe, "through")
    reader.join(PATIENCE)
    assert read == [b"through"]


def test_pipes_behind_descriptors_are_written_as_they_are() -> None:
    """`/dev/stdout | cat`, `>(wc)`: their real path is no place."""
    reading, writing = os.pipe()
    whole_file.write(f"/proc/self/fd/{writing}", "through")
    os.close(writing)
    with open(reading, "rb") as stream:
        assert stream.read() == b"through"


def test_folders_are_refused_as_open_refuses_them(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "missing" / "file"):
        with pytest.raises(OSError, match=r"Is a directory|No such file"):
            whole_file.write(path, "")


ENDLESS = Path("/dev/zero")


@pytest.mark.skipif(not ENDLESS.exists(), reason="this system has no endless device")
@pytest.mark.parametrize("line", ["report /dev/zero", "--manifest=/dev/zero", "bench --report=/dev/zero"])
def test_what_never_ends_is_not_read_to_its_end(
    line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A device; a file of many gigabytes is the same."""
    monkeypatch.setattr(whole_file, "LONGEST", 1 << 20)
    assert cli.main(line.split()) == 2
    assert capsys.readouterr().err.endswith(f"{ENDLESS} cannot be read: it has more than {1 << 20} bytes\n")
    assert not marks._is_ours(ENDLESS, lambda data: True)
