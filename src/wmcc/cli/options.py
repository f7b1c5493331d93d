"""The options of commands, and what makes a command of a function.

Options stand in options.txt, as in a manual page, and not in calls of Click: there are sixty, most are shared, and
their names and choices are those of the library's values, which check them. A metavar in small letters is a list of
choices; ``N`` is a whole number, ``X`` any, and all else is text. An option that ends with ``...`` may be repeated,
and one without a metavar is a flag. After ``::`` stands what the options below it are for.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from inspect import cleandoc
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import click

from ..present.result import ENDINGS

if TYPE_CHECKING:
    from .output import Output as Output
    from .request import DataOptions as DataOptions

Run = Callable[..., None]
Decorator = Callable[[Run], Run]
Model = Literal["relative", "absolute"]


class Row(NamedTuple):
    """An option of a table: its name, what it takes, its default, its help, and what it is for."""

    name: str
    metavar: str
    default: str | None
    text: str
    home: str


def _rows() -> Iterator[tuple[str, Row]]:
    with open(os.path.join(os.path.dirname(__file__), "options.txt"), encoding="utf-8") as file:
        table = file.read()
    home = ""
    for head, text in re.findall(r"^(\S.*)\n((?: .*\n)*)", table, re.MULTILINE):
        if head.startswith("::"):
            home = head[3:]
            continue
        name, metavar, default = (*head.replace(" =", " ", 1).split(" "), "", "")[:3]
        row = Row(name, metavar, default or None, " ".join(map(str.strip, text.splitlines())), home)
        yield name.partition("/")[0].lstrip("-").replace("-", "_"), row


OTHERS = "others"
TABLE = dict(_rows())
NAMES = ("files", *(name for name, row in TABLE.items() if row.home != OTHERS))
"""Parameters of `data`."""


def written(name: str) -> str:
    """Return an option as it is typed."""
    return f"--{name.replace('_', '-')}"


def option(parameter: str, text: str | None = None, **settings: Any) -> Decorator:
    """Give a command an option of the table; ``text`` and ``settings`` replace what the table has."""
    name, metavar, default, help_, _ = TABLE[parameter]
    kind = metavar.removesuffix("...")
    made: dict[str, Any] = {"multiple": metavar.endswith("..."), "help": text or help_}
    if not kind:
        made |= {"is_flag": True, "default": None if "/" in name else False}
        made |= {"expose_value": parameter != "traceback"}  # it is looked for where words are still as they were typed
    elif kind.islower():
        made["type"] = click.Choice(kind.split("|"), case_sensitive=False)
    else:
        made |= {"metavar": kind, "type": {"N": int, "X": float}.get(kind)}
    if default is not None or "default" in settings:
        made |= {"default": default, "show_default": True}
    return click.option(name, **made | settings)


def options(*parameters: str) -> Decorator:
    """Give a command several options of the table."""
    return lambda run: _with(run, *map(option, parameters))


def _with(run: Run, *decorators: Decorator) -> Run:
    for decorate in reversed(decorators):
        run = decorate(run)
    return run


class Command(click.Command):
    """A command that takes an option once, unless it may be repeated."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Refuse an option that is given twice, of which Click would take the last."""
        if not ctx.resilient_parsing:
            *_, order = self.make_parser(ctx).parse_args(list(args))
            for param in dict.fromkeys(order):
                if isinstance(param, click.Option) and not param.multiple and order.count(param) > 1:
                    raise click.BadOptionUsage(
                        param.opts[0], f"{param.opts[0]} is given {order.count(param)} times; expected once.", ctx
                    )
        return super().parse_args(ctx, args)


def command(sample: bool = True) -> Callable[[Run], click.Command]:
    """Make a command of a function, whose docstring is its help; examples are of the sample, or of nothing."""

    def decorate(run: Run) -> click.Command:
        text, _, examples = cleandoc(run.__doc__ or "").partition("\n\nExamples::\n\n")
        on = "Examples, on the sample that `wmcc example -o parcels.csv` writes:" if sample else "Examples:"
        shown = "\n".join(f"  $ {line.strip()}" for line in examples.splitlines())
        return click.command(cls=Command, help=text, epilog=f"\b\n{on}\n{shown}")(run)

    return decorate


class CommandOptions(SimpleNamespace):
    """What a command was asked beside its data: its options by their names."""

    def chosen(self, *names: str) -> dict[str, Any]:
        """Return those of some options that were given."""
        return {name: x for name in names if (x := getattr(self, name)) is not None}

    @property
    def limits(self) -> dict[str, Any]:
        """How long a proof may be looked for."""
        return self.chosen("gap", "nodes", "seconds")

    @property
    def bounds(self) -> dict[str, str]:
        """Columns of the smallest and the largest weights, by side."""
        return self.chosen("lower", "upper")

    @property
    def model(self) -> Model:
        """How weights may be off."""
        return "absolute" if self.relative is False else "relative"

    def check(self, scores: bool = False) -> None:
        """Check options as the library does, before data are read, which may take long.

        Measures of ``scores`` are checked by what reads these.
        """
        from ..measures import checks

        given = vars(self)
        if given.get("measure") is not None and not (scores or self.measure in SCORE_MEASURES):
            named = checks.named_measure if given.get("of") is None else checks.named_class_measure
            named(self.measure)
        checks.checked_level(given.get("confidence", 0.95))
        checks.checked_margin(given.get("margin"))
        eps = given.get("eps") if "relative" in given else None  # else the command has a rule of its own
        for one in eps if isinstance(eps, tuple) else (eps,):
            if one is not None:
                checks.checked_eps(one, self.model)
        if "nodes" in given and self.limits:
            from ..robustness.certify import limits_of

            limits_of(**{"gap": 0, "nodes": None, "seconds": None, **self.limits})

    def check_model(self) -> None:
        """Refuse to say how weights may be off, if nobody asked by how much."""
        if self.relative is not None and self.eps is None:
            from ..errors import InputError

            name = "relative" if self.relative else "absolute"
            raise InputError(f"--{name} needs --eps, how far each weight may be off.", argument="eps")


def data(
    least: int = 1, most: int | None = 1, stored: int | None = 1, units: bool = False, scores: bool = False,
    groups: bool = False,
) -> Decorator:  # fmt: skip
    """Give a command the options that say what to read, and hand it the `DataOptions` that they make.

    ``least`` and ``most`` say how many predictions it takes, and ``stored`` how many stored tables; ``units`` whether
    it writes the unit of weights beside them; ``scores`` whether it is of scores, and chooses the threshold itself;
    ``groups`` whether it compares the groups of ``--by`` where there is one prediction.
    """

    def decorate(run: Run) -> Run:
        @functools.wraps(run)
        def with_request(**given: Any) -> None:
            from .request import DataOptions  # brings what reads files, which --help does without

            request = DataOptions(**{name: given.pop(name) for name in NAMES})
            request.check(1 if groups and request.by else least, most, stored, units, scores)
            run(request, **given)

        files = click.argument("files", metavar="FILE...", nargs=-1, required=True)
        return _with(with_request, files, *map(option, NAMES[1:]))

    return decorate


SCORE_MEASURES = ("roc_auc", "average_precision")
"""Measures of scores as a whole, which need no threshold."""

FORMATS = {
    "table": ".txt", "json": ".json", "csv": ".csv", "csv-safe": ".csv", "markdown": ".md", "latex": ".tex",
    "html": ".html",
}  # fmt: skip
"""How results are written, and the end of the name of such a file."""


def output(
    formats: Mapping[str, str] = FORMATS,
    ends: Sequence[str] = ENDINGS,
    how: str = "How to print the result; csv-safe is csv without formulas, for spreadsheets.",
) -> Decorator:
    """Give a command the options of what is written; hand it its other options, checked, and the `Output`.

    ``formats`` have the ends of names of such files, and ``ends`` are all that a file's name may have.
    """

    def decorate(run: Run) -> Run:
        @functools.wraps(run)
        def with_output(*request: DataOptions, **given: Any) -> None:
            from .output import Output

            digits = given.pop("digits", None)
            made = Output.of(given.pop("format"), given.pop("out"), formats, ends)._replace(digits=digits)
            asked = CommandOptions(**given)
            made.check(request[0].files if request else [])
            if request:
                asked.check(request[0].of_scores)
            if "confidence" in given:  # there will be intervals
                from .startup import load_student

                load_student()
            run(*request, asked, made)

        kind = click.Choice(list(formats), case_sensitive=False)
        form = click.option("--format", "-f", type=kind, help=how)
        more = [option("digits")] if formats is FORMATS else []
        return _with(with_output, form, out(" ".join(ends)), *more, option("traceback"))

    return decorate


def out(ends: str) -> Decorator:
    """Give a command the option to write to a file what it prints else."""
    printed = {"callback": lambda ctx, param, name: None if name == "-" else name}  # as other tools take it
    return place("FILE", f"Write to this file instead of printing: {ends}", **printed)


def place(metavar: str, text: str, **settings: Any) -> Decorator:
    """Give a command the option of where something is written."""
    return click.option("--out", "-o", metavar=metavar, help=text, show_default=True, **settings)


def class_of(classes: Sequence[Any], text: str | None) -> Any:
    """Return the class that ``--of`` names, as a table has it."""
    return next((x for x in classes if str(x) == text), text)
