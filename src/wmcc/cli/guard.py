"""From what goes wrong to sentences on standard error and an exit code, for all commands at this one place."""

from __future__ import annotations

import contextlib
import errno
import io
import re
import sys
import traceback
from collections.abc import Iterator
from typing import Any, NamedTuple

import typer
from typer.core import TyperGroup

from ..errors import WmccError
from ..present.text import visible_lines
from ..present.written import as_json
from . import output, standard_input, startup

OTHER, MENDABLE, INTERRUPTED, BROKEN_PIPE = 1, 2, 130, 141
"""Exit codes; docs/cli.md says what each stands for. The last two are those of other tools: 128 and a signal."""

REFUSED = {
    errno.EACCES, errno.EISDIR, errno.ELOOP, errno.ENAMETOOLONG, errno.ENOENT, errno.ENOTDIR, errno.EPERM, errno.EROFS,
}  # fmt: skip
"""What a system says of a name that the user can mend. A full disk or a failing one is none of these."""

SCHEMA = 1
"""Version of the JSON of errors."""

_UsageError: Any = typer.BadParameter.__mro__[1]  # typer brings a click of its own, or did not
_MODEL, _OPTION = re.compile(r"model='(relative|absolute)'"), r"--\1"


class Group(TyperGroup):
    """The commands, which end with the exit code that their failure deserves."""

    words: list[str]

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """Read the options that come before a command."""
        self.words = list(args)
        if extra.get("resilient_parsing"):  # a shell asks for completions
            return super().make_context(info_name, args, parent, **extra)
        with _told(self.words):
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: Any) -> Any:
        """Read the options of a command, and run it."""
        with _told(self.words):
            return super().invoke(ctx)


@contextlib.contextmanager
def _told(words: list[str]) -> Iterator[None]:
    """Say what goes wrong; ``--traceback`` shows all of it, and ``--format json`` says it in JSON too."""
    with startup.interruptible(), contextlib.ExitStack() as at_last:
        at_last.callback(standard_input.remove)
        try:
            yield
            sys.stdout.flush()
        except (typer.Exit, typer.Abort):
            raise
        except KeyboardInterrupt:
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:
            startup.let_go()
            raise typer.Exit(BROKEN_PIPE) from None
        except Exception as problem:
            if startup.interrupted:  # DuckDB, for one, makes an error of its own of Ctrl-C
                raise typer.Exit(INTERRUPTED) from None
            if "--traceback" in words and not startup.owned:
                raise
            raise typer.Exit(_tell(problem, words)) from None


def _tell(problem: Exception, words: list[str]) -> int:
    """Say what went wrong, and return the exit code."""
    failure = _failure(problem)
    if isinstance(problem, _UsageError):
        _say(_usage(problem))
    elif "--traceback" in words:
        _say("".join(traceback.format_exception(problem)).rstrip("\n"))
    else:
        _say(f"Error: {failure.message}" + (f"\nHint: {failure.hint}" if failure.hint else ""))
    if _wants_json(words):
        with contextlib.suppress(OSError, WmccError):
            output.emit(as_json({"schema": SCHEMA, "error": failure._asdict()}), None)
    startup.let_go()
    return failure.exit_code


class Failure(NamedTuple):
    """What went wrong: the fields of its JSON."""

    type: str
    message: str
    hint: str | None
    argument: str | None
    exit_code: int


def _failure(problem: Exception) -> Failure:
    kind = type(problem).__name__
    if isinstance(problem, _UsageError):
        path = problem.ctx.command_path if problem.ctx else "wmcc"
        message = " ".join(problem.format_message().split())
        return Failure("UsageError", message, f"Try '{path} --help' for help.", _argument(problem), problem.exit_code)
    if isinstance(problem, WmccError):
        hint = None if problem.hint is None else _in_options(_keywords(problem.hint))
        return Failure(kind, standard_input.named(_in_options(problem.message)), hint, None, MENDABLE)
    what = standard_input.named(str(problem).strip().partition("\n")[0])
    if isinstance(problem, OSError) and problem.errno in REFUSED:
        if problem.filename is not None:
            what = f"{standard_input.named(str(problem.filename))!r} cannot be opened: {problem.strerror}."
        return Failure(kind, what, None, None, MENDABLE)
    what = what if isinstance(problem, OSError) else f"{kind}: {what}"
    return Failure(kind, what, "--traceback shows where this comes from.", None, OTHER)


def _argument(problem: Any) -> str | None:
    """The option or argument that a usage error is about, as it is written."""
    param: Any = getattr(problem, "param", None)
    names = [getattr(problem, "option_name", None), *getattr(param, "opts", ())[:1]]
    name = next((x for x in names if x), None)
    return name if name is None or name.startswith("-") else str(param.metavar or name)


def _usage(problem: Any) -> str:
    text = io.StringIO()
    problem.show(text)
    return text.getvalue().rstrip("\n")


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


def _in_options(sentence: str) -> str:
    """What the library calls otherwise than its option."""
    return _MODEL.sub(_OPTION, sentence).replace("confidence_level", "--confidence").replace("margin is", "--margin is")


def _keywords(hint: str) -> str:
    """The library's hints name keywords; here they are options."""
    hint = hint.replace("allow_unmatched=True", "--allow-unmatched")
    return re.sub(r"\b(true|pred|weight|by|cluster|on|labels|ignore|positive|engine)=(?=[\s.,;)]|$)", r"--\1", hint)
