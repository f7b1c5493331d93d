"""What a process that is ours alone may do, and a library may not: answer Ctrl-C, mend its streams, start quickly.

Under a program that imports `wmcc.cli.commands`, tests for instance, nothing here has an effect.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import warnings
from collections.abc import Iterator
from types import FrameType
from typing import Any

from . import leave

owned = False
"""Whether the process was started as the command line."""

interrupted = False
"""Whether Ctrl-C came: an engine may make something else of the exception."""


_formatted = warnings.formatwarning


def own_process() -> None:
    """Note that it was."""
    global owned
    owned = True
    warnings.formatwarning = _format_warning
    _open_streams()
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a label should show something.
        with contextlib.suppress(AttributeError, OSError):
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]


def _format_warning(*args: Any, **options: Any) -> str:
    """What Python says of a warning, which may be an engine's and name a column, with nothing that moves the cursor."""
    from ..present.text import visible_lines

    return visible_lines(_formatted(*args, **options))


def _interrupt(number: int, frame: FrameType | None) -> None:
    global interrupted
    interrupted = True
    raise KeyboardInterrupt


def check_interrupted() -> None:
    """Raise what Ctrl-C raised, if code in C lost it, as an import may."""
    if interrupted:
        raise KeyboardInterrupt


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Let Ctrl-C raise KeyboardInterrupt while a command runs, which may have files to remove."""
    if signal.getsignal(signal.SIGINT) is not leave:
        yield
        return
    signal.signal(signal.SIGINT, _interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, leave)


def _open_streams() -> None:
    """Put something in the place of streams that are closed; a file of data would get their numbers otherwise.

    Without standard output no command runs: results could get lost, and nobody would notice.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest number that is free
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    if sys.stdout is None:
        print("Error: standard output is closed.\nHint: use >/dev/null to print nothing.", file=sys.stderr)
        sys.exit(2)


def let_go() -> None:
    """Drop what the streams still hold and cannot write, which Python would try again at its end, and complain."""
    if not owned:
        return
    for number, stream in ((1, sys.stdout), (2, sys.stderr)):
        try:
            stream.flush()
        except (OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_RDWR), number)


def load(arrow: bool) -> None:
    """Import the data sets of Arrow, if they alone read the data, without pandas: that saves 110 ms of 450.

    They would import pandas and not use it, so they are told that there is none. Not where rows are grouped, since
    pandas stands for dates with nanoseconds in keys; and not beside other engines, since PyArrow does not look for
    pandas a second time.
    """
    if not (owned and arrow) or "pandas" in sys.modules:
        return
    finder = _NoPandas()
    sys.meta_path.insert(0, finder)
    try:
        import pyarrow.dataset  # noqa: F401
    except ImportError:
        pass  # the library says what is missing
    finally:
        sys.meta_path.remove(finder)


def load_student() -> None:
    """Take Student's distribution, which intervals need, from SciPy's compiled functions alone: that saves 85 ms.

    The package around them is imported as usual by whoever asks for more of it; and here too, if SciPy keeps them
    elsewhere.
    """
    if not owned or "scipy.special" in sys.modules:
        return
    import scipy

    from ..inference.pivot import student

    package: Any = type(sys)("scipy.special")
    package.__path__ = [os.path.join(folder, "special") for folder in scipy.__path__]
    sys.modules["scipy.special"] = package
    try:
        from scipy.special import _ufuncs

        package.stdtr, package.stdtrit = _ufuncs.stdtr, _ufuncs.stdtrit
        student()
    except (ImportError, AttributeError):
        pass
    finally:
        del sys.modules["scipy.special"]


class _NoPandas:
    """A finder of modules; not a subclass of importlib's, whose import takes 20 ms."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        if name == "pandas":
            raise ModuleNotFoundError("pandas is not needed here", name=name)
