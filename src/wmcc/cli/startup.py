"""A quick start: what a process that is ours alone may do, and a library may not.

Under a program that imports `wmcc.cli.app`, tests for instance, nothing here has an effect.
"""

from __future__ import annotations

import contextlib
import gc
import signal
import sys
from types import FrameType
from typing import Any

owned = False
"""Whether the process was started as the command line."""

interrupted = False
"""Whether Ctrl-C came: an engine may make something else of the exception."""


def own_process() -> None:
    """Note that it was."""
    global owned
    owned = True
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # else it is ignored, or somebody else's
        signal.signal(signal.SIGINT, _interrupt)
    gc.disable()  # imports make many objects and no garbage: to look for some takes a sixth of the start
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a label should show something.
        with contextlib.suppress(AttributeError, OSError):
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]


def _interrupt(number: int, frame: FrameType | None) -> None:
    global interrupted
    interrupted = True
    raise KeyboardInterrupt


def load(*, arrow: bool) -> None:
    """Import what reads data, before it is read.

    ``arrow`` is for what Arrow alone reads. Its data sets would import pandas and not use it, which takes longer
    than all the rest: they are told that there is none. Not where rows are grouped, since pandas stands for dates with
    nanoseconds in keys; and not beside other engines, since PyArrow does not look for pandas a second time.
    """
    if not owned:
        return
    if arrow and "pandas" not in sys.modules:
        finder = _NoPandas()
        sys.meta_path.insert(0, finder)
        try:
            import pyarrow.dataset  # noqa: F401
        except ImportError:
            pass  # the library says what is missing
        finally:
            sys.meta_path.remove(finder)
    from ..sources import tabular  # noqa: F401

    gc.freeze()
    gc.enable()


class _NoPandas:
    """A finder of modules; not a subclass of importlib's, whose import takes 20 ms."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        if name == "pandas":
            raise ModuleNotFoundError("pandas is not needed here", name=name)
