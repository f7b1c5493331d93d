"""From what goes wrong to sentences on standard error and an exit code, for all commands at this one place."""

from __future__ import annotations

import contextlib
import errno
import io
import re
import sys
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import click

from ..errors import WmccError
from ..present.stored import Storable
from ..present.text import visible_lines
from . import output, standard_input, startup

OTHER, MENDABLE, FAILED, INTERRUPTED, BROKEN_PIPE = 1, 2, 3, 130, 141
"""Exit codes; docs/howto/command-line.md says what each stands for.

The last two are those of other tools: 128 and a signal.
"""

REFUSED = {
    errno.EACCES, errno.EISDIR, errno.ELOOP, errno.ENAMETOOLONG, errno.ENOENT, errno.ENOTDIR, errno.EPERM, errno.EROFS,
}  # fmt: skip
"""What a system says of a name that the user can mend. A full disk or a failing one is none of these."""


@contextlib.contextmanager
def exit_on_error(words: list[str]) -> Iterator[None]:
    """Say what goes wrong; ``--traceback`` shows all of it, and ``--format json`` says it in JSON too."""
    with startup.interruptible(), contextlib.ExitStack() as at_last:
        at_last.callback(standard_input.remove)
        try:
            yield
            sys.stdout.flush()
        except (click.exceptions.Exit, click.Abort):
            raise
        except KeyboardInterrupt:
            raise click.exceptions.Exit(INTERRUPTED) from None
        except BrokenPipeError:
            startup.let_go()
            raise click.exceptions.Exit(BROKEN_PIPE) from None
        except Exception as problem:
            if startup.interrupted:  # DuckDB, for one, makes an error of its own of Ctrl-C
                raise click.exceptions.Exit(INTERRUPTED) from None
            if "--traceback" in words and not startup.owned:
                raise
            raise click.exceptions.Exit(_tell(problem, words)) from None


def _tell(problem: Exception, words: list[str]) -> int:
    """Say what went wrong, and return the exit code."""
    failure = _failure(problem, words)
    if isinstance(problem, click.UsageError):
        text = io.StringIO()
        problem.show(text)
        _say(text.getvalue().rstrip("\n"))
    elif "--traceback" in words:
        _say("".join(traceback.format_exception(problem)).rstrip("\n"))
    else:
        _say(f"Error: {failure.message}" + (f"\nHint: {failure.hint}" if failure.hint else ""))
    if _wants_json(words):
        with contextlib.suppress(OSError, WmccError):
            output.show(ErrorRecord(failure).to_json())
    startup.let_go()
    return failure.exit_code


class Failure(NamedTuple):
    """What went wrong: the fields of its JSON."""

    type: str
    message: str
    hint: str | None
    argument: str | None
    exit_code: int


@dataclass(frozen=True)
class ErrorRecord(Storable):
    """What the command line could not do, for programs."""

    error: Failure

    _kind = "error"
    _stored = ("error",)


def _failure(problem: Exception, words: list[str]) -> Failure:
    kind = type(problem).__name__
    if isinstance(problem, click.UsageError):
        path = problem.ctx.command_path if problem.ctx else "wmcc"
        message = " ".join(problem.format_message().split())
        return Failure("UsageError", message, f"Try '{path} --help' for help.", _argument(problem), problem.exit_code)
    if isinstance(problem, WmccError):
        hint, message = problem.shell or problem.hint, standard_input.named(problem.message)
        option = _option(problem.argument, words)
        if option is not None and problem.argument in OPTIONS:
            message = message.replace(f"`{problem.argument}`", f"`{option}`")
        return Failure(kind, message, hint, option, MENDABLE)
    what = standard_input.named(str(problem).strip().partition("\n")[0])
    if isinstance(problem, OSError) and problem.errno in REFUSED:
        if problem.filename is not None:
            what = f"{standard_input.named(str(problem.filename))!r} cannot be opened: {problem.strerror}."
        return Failure(kind, what, None, None, MENDABLE)
    what = what if isinstance(problem, OSError) else f"{kind}: {what}"
    return Failure(kind, what, "--traceback shows where this comes from.", None, OTHER)


OPTIONS = {"confidence_level": "confidence", "caps": "cap", "n": "rows", "sample_weight": "weights"}
"""Options that are called otherwise than the library's parameters."""


def _option(parameter: str | None, words: list[str]) -> str | None:
    """The option of a command that gives a parameter of the library, if it has one."""
    from .commands import wmcc

    command = next((own for word in words if (own := wmcc.get_command(click.Context(wmcc), word))), None)
    options = {} if command is None else {own.name: own.opts[0] for own in command.params}
    name = options.get(OPTIONS.get(str(parameter), str(parameter)), "")
    return name if name.startswith("-") else None


def _argument(problem: Any) -> str | None:
    """The option or argument that a usage error is about, as it is written."""
    param: Any = getattr(problem, "param", None)
    names = [getattr(problem, "option_name", None), *getattr(param, "opts", ())[:1]]
    name = next((x for x in names if x), None)
    return name if name is None or name.startswith("-") else str(param.metavar or name)


def _wants_json(words: list[str]) -> bool:
    """Whether the result was asked for as JSON; the options may be wrong, so that nobody read them."""
    found = re.findall(r"(?:^|\0)(?:--format[=\0]|-f\0?)([^\0]*)", "\0".join(words))
    return bool(found) and found[-1].lower() == "json"


def warn(sentence: str) -> None:
    """Write a warning to standard error."""
    _say(f"Warning: {standard_input.named(sentence)}")


def _say(lines: str) -> None:
    """Write to standard error, if anybody is there, what cannot move the cursor."""
    with contextlib.suppress(OSError):
        print(visible_lines(lines), file=sys.stderr, flush=True)


def fail(sentences: Sequence[str]) -> None:
    """Say what was asked for and is not so, and end with the code for that."""
    if sentences:
        _say("\n".join(f"Failed: {sentence}" for sentence in sentences))
        raise click.exceptions.Exit(FAILED)
