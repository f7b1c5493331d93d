"""From what goes wrong to a sentence on standard error and an exit code."""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Callable
from typing import ParamSpec

import typer

from ..errors import WmccError
from . import startup

OTHER, BAD_INPUT, INTERRUPTED, BROKEN_PIPE = 1, 2, 130, 141
"""Exit codes. The last two are those of other tools: 128 and the number of the signal."""

P = ParamSpec("P")

_MODEL, _OPTION = re.compile(r"model='(relative|absolute)'"), r"--\1"


def guarded(command: Callable[P, None]) -> Callable[P, None]:
    """Let a command end with the exit code that its failure deserves; ``--traceback`` shows all of it."""

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            command(*args, **kwargs)
        except KeyboardInterrupt:
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:
            raise typer.Exit(BROKEN_PIPE) from None
        except (typer.Exit, typer.Abort, typer.BadParameter):
            raise
        except Exception as problem:
            if startup.interrupted:  # DuckDB, for one, makes an error of its own of Ctrl-C
                raise typer.Exit(INTERRUPTED) from None
            if kwargs.get("traceback"):
                raise
            _tell(problem)
            raise typer.Exit(BAD_INPUT if isinstance(problem, WmccError) else OTHER) from None

    return run


def warn(sentence: str) -> None:
    """Write a warning to standard error."""
    print(f"Warning: {sentence}", file=sys.stderr)


def _tell(problem: Exception) -> None:
    if isinstance(problem, WmccError):
        sentence, _, hint = str(problem).partition("\n\nHint: ")
        print(f"Error: {_in_options(sentence)}", file=sys.stderr)
        if hint:
            print(f"Hint: {_in_options(_keywords(hint))}", file=sys.stderr)
        return
    what = str(problem).strip().partition("\n")[0]
    kind = "" if isinstance(problem, OSError) else f"{type(problem).__name__}: "
    print(f"Error: {kind}{what}", file=sys.stderr)
    print("Hint: --traceback shows where this comes from.", file=sys.stderr)


def _in_options(sentence: str) -> str:
    """What the library calls otherwise than its option."""
    return _MODEL.sub(_OPTION, sentence).replace("confidence_level", "--confidence").replace("margin is", "--margin is")


def _keywords(hint: str) -> str:
    """The library's hints name keywords; here they are options."""
    hint = hint.replace("allow_unmatched=True", "--allow-unmatched")
    return re.sub(r"\b(true|pred|weight|by|on|labels|ignore|positive|engine)=(?=[\s.,;)]|$)", r"--\1", hint)
