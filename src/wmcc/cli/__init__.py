"""The command line: ``wmcc``, or ``python -m wmcc``. It reads options and writes results, and computes nothing."""

import os
import sys

NEEDED = ("click", "rich")


def main() -> None:
    """Run the command line on the arguments of this process, and exit."""
    import _signal as signal  # type: ignore[import-not-found]  # part of Python itself; what signal adds to it takes longer than all that came before

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # else it is ignored, or somebody else's
        signal.signal(signal.SIGINT, leave)
    from importlib.util import find_spec

    from .startup import own_process

    own_process()
    missing = [name for name in NEEDED if not find_spec(name)]
    if missing:
        verb = "is" if len(missing) == 1 else "are"
        print(f"Error: the command line needs {' and '.join(missing)}, which {verb} not installed.", file=sys.stderr)
        print("Hint: pip install 'wmcc[cli]'", file=sys.stderr)
        sys.exit(2)
    from .commands import wmcc

    wmcc(prog_name="wmcc")


def leave(number: int, frame: object) -> None:
    """End at once when Ctrl-C comes, which does no harm before a command runs and after it.

    An exception would not do: code that runs in the midst of an import, in C or when an object is freed, may lose it.
    """
    os._exit(128 + number)
