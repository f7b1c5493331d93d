"""The command line: ``wmcc``, or ``python -m wmcc``. It reads options and writes results, and computes nothing."""

from __future__ import annotations

import sys
from importlib.util import find_spec

MISSING = """Error: the command line needs {names}, which is not installed.
Hint: pip install 'wmcc[cli]'"""


def main() -> None:
    """Run the command line on the arguments of this process, and exit."""
    try:
        missing = [name for name in ("typer", "rich") if not find_spec(name)]
        if missing:
            print(MISSING.format(names=" and ".join(missing)), file=sys.stderr)
            sys.exit(2)
        from .startup import own_process

        own_process()
        from .app import app

        app(prog_name="wmcc")
    except KeyboardInterrupt:  # one that comes while modules are imported
        sys.exit(130)
