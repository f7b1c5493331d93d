"""Files that are there as a whole, or as they were before."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import stat
import tempfile
import threading
from collections.abc import Iterable, Iterator
from types import FrameType

from .errors import InputError


def check(out: str | None, inputs: Iterable[str] = ()) -> None:
    """Refuse a place that cannot be written to, before hours are spent on what is to be written there.

    ``inputs`` are files of data that it must not be one of.
    """
    if out is None:
        return
    folder = os.path.dirname(os.path.realpath(out))
    if os.path.isdir(out) or out.endswith(("/", os.sep)):
        raise InputError(f"the output {out!r} is a folder; expected the name of a file.")
    if not os.path.isdir(folder):
        raise InputError(f"the output {out!r} cannot be written: there is no folder {folder!r}.", "make it first.")
    if not _special(out):
        try:  # what permissions say is not always true
            handle, temporary = _temporary(folder)
        except OSError as problem:
            if problem.errno in (errno.ENOSPC, errno.EDQUOT):  # nobody gave a wrong name
                raise
            raise InputError(f"the output {out!r} cannot be written: {problem.strerror}: {folder!r}.") from None
        os.close(handle)
        os.unlink(temporary)
    for name in inputs:
        if os.path.exists(out) and os.path.exists(name) and os.path.samefile(out, name):
            raise InputError(f"the output {out!r} is the file that is read; it would be lost.", "choose another name.")


def write(path: str, text: str) -> None:
    """Write a text file so that its name never stands for a part of it.

    The text goes to a temporary file in the same folder, to the disk, and only then to its name; a link is followed.
    What fails or is interrupted on the way leaves the name as it was. Only a kill leaves the temporary file.
    """
    try:
        data = text.encode()
    except UnicodeEncodeError as problem:
        raise InputError(
            f"a label is no valid text: {problem.reason}.", "use --format json, which escapes it."
        ) from None
    if _special(path):  # /dev/stdout and the like are written to; a file in their place would be no help
        with open(path, "wb", buffering=0) as device:
            write_all(device.fileno(), data)
        return
    path = os.path.realpath(path)
    with _sigterm_raises():
        handle, temporary = _temporary(os.path.dirname(path))
        try:
            with open(handle, "wb", buffering=0, closefd=True) as file:
                write_all(file.fileno(), data)
                os.chmod(temporary, _mode(path))
                os.fsync(file.fileno())
            os.replace(temporary, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise
    _sync_folder(os.path.dirname(path))


def _temporary(folder: str) -> tuple[int, str]:
    return tempfile.mkstemp(prefix=".wmcc-", suffix=".tmp", dir=folder)


def _special(path: str) -> bool:
    return os.path.exists(path) and not stat.S_ISREG(os.stat(path).st_mode) and not os.path.isdir(path)


def write_all(handle: int, data: bytes) -> None:
    """Write all of the data: the system may take a part at a time."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(handle, rest) :]


def _mode(path: str) -> int:
    """The mode of the file that is replaced, or that of a new one: temporary files are private."""
    if os.path.exists(path):
        return stat.S_IMODE(os.stat(path).st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _sync_folder(folder: str) -> None:
    """Bring the new name to the disk too, where folders can be synced."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextlib.contextmanager
def _sigterm_raises() -> Iterator[None]:
    """Let SIGTERM unwind while a temporary file is there.

    Not longer: an engine deep in a query would delay a handler in Python, and the signal should end it at once.
    """
    before = signal.getsignal(signal.SIGTERM)
    if threading.current_thread() is not threading.main_thread() or before is not signal.SIG_DFL:
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
