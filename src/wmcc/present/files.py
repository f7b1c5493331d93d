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

from ..errors import InputError


def check(out: str | None, inputs: Iterable[str] = ()) -> None:
    """Refuse a place that cannot be written to, before hours are spent on what is to be written there.

    ``inputs`` are files of data that it must not be one of.
    """
    if out is None:
        return
    if not out:
        raise InputError("the output has no name; expected the name of a file.")
    folder = os.path.dirname(os.path.realpath(out))
    if os.path.isdir(out) or out.endswith(("/", os.sep)):
        raise InputError(f"the output {out!r} is a folder; expected the name of a file.")
    if not os.path.isdir(folder):
        raise InputError(f"the output {out!r} cannot be written: there is no folder {folder!r}.", "create it first.")
    try:
        os.stat(out)
    except FileNotFoundError:
        pass
    except OSError as problem:  # too long a name, links that go round
        raise InputError(f"the output {out!r} cannot be written: {problem.strerror}.", "choose another name.") from None
    if not _special(out):
        try:  # what permissions say is not always true
            descriptor, temporary = _temporary(folder)
        except OSError as problem:
            if problem.errno in (errno.ENOSPC, errno.EDQUOT):  # nobody gave a wrong name
                raise
            raise InputError(f"the output {out!r} cannot be written: {problem.strerror}: {folder!r}.") from None
        os.close(descriptor)
        os.unlink(temporary)
    for name in inputs:
        if os.path.exists(out) and os.path.exists(name) and os.path.samefile(out, name):
            raise InputError(f"the output {out!r} is also the input; it would be overwritten.", "choose another name.")


def write(path: str, content: str | bytes) -> None:
    """Write a file so that its name never stands for a part of it.

    The content goes to a temporary file in the same folder, to the disk, and only then to its name; a link is followed.
    What fails or is interrupted on the way leaves the name as it was. Only a kill leaves the temporary file.
    """
    try:
        encoded = content.encode() if isinstance(content, str) else content
    except UnicodeEncodeError as problem:
        raise InputError(f"a label is not valid text: {problem.reason}.", "write JSON, which escapes it.") from None
    if _special(path):  # /dev/stdout and the like are written to; a file in their place would be no help
        with open(path, "wb", buffering=0) as device:
            write_all(device.fileno(), encoded)
        return
    target = os.path.realpath(path)
    with sigterm_raises():
        descriptor, temporary = _temporary(os.path.dirname(target))
        try:
            with open(descriptor, "wb", buffering=0) as file:
                write_all(file.fileno(), encoded)
                os.chmod(temporary, _mode(target))
                os.fsync(file.fileno())
            os.replace(temporary, target)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise


def check_folder(folder: str, names: Iterable[str]) -> None:
    """Refuse a folder that files of these names cannot be written to; it need not be there, but the one it is in."""
    if not folder:
        raise InputError("the output has no name; expected the name of a folder.")
    if os.path.exists(folder) and not os.path.isdir(folder):
        raise InputError(f"the output {folder!r} is a file; expected a folder.")
    if not os.path.isdir(folder):
        check(folder.rstrip("/" + os.sep))
        return
    for name in names:
        check(os.path.join(folder, name))


def _temporary(folder: str) -> tuple[int, str]:
    return tempfile.mkstemp(prefix=".wmcc-", suffix=".tmp", dir=folder)


def _special(path: str) -> bool:
    return os.path.exists(path) and not stat.S_ISREG(os.stat(path).st_mode) and not os.path.isdir(path)


def write_all(descriptor: int, content: bytes) -> None:
    """Write all of the content: the system may take a part at a time."""
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _mode(path: str) -> int:
    """The mode of the file that is replaced, or that of a new one: temporary files are private."""
    if os.path.exists(path):
        return stat.S_IMODE(os.stat(path).st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


@contextlib.contextmanager
def sigterm_raises() -> Iterator[None]:
    """Let SIGTERM unwind while a temporary file is there.

    Not longer: an engine deep in a query delays a handler in Python, and the signal should end it at once.
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
