"""`wmcc plan`."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any

import click

from . import options as o

if TYPE_CHECKING:
    from .output import Output

COLUMNS = ("stratum", "size", "accuracy")
"""Columns of a file of strata, in this order."""


@o.command("""
    wmcc tabulate parcels.csv --true label --pred pred -o pilot.json
    wmcc plan pilot.json --se 0.01
    wmcc plan pilot.json --rows 500 --measure area --of water
""")
@click.argument("file", metavar="FILE")
@click.option(
    "--se", type=float, metavar="X", help="Standard error that is wanted; of an area, in the unit of the sizes."
)
@click.option("--rows", type=int, metavar="N", help="Number of rows instead, to see which standard errors it gives.")
@click.option(
    "--measure",
    metavar="NAME",
    default="overall_accuracy",
    show_default=True,
    help="What the standard error is of: overall_accuracy, ecc, mpc1, kappa …; with --of users_accuracy, "
    "producers_accuracy, f1, iou or area.",
)
@click.option("--of", metavar="CLASS", help="The class of a measure of one class.")
@click.option(
    "--allocation",
    type=click.Choice(["optimal", "proportional", "equal"]),
    default="optimal",
    show_default=True,
    help="How rows are shared out among strata: with the fewest rows, by their sizes, or evenly.",
)
@click.option(
    "--minimum", type=int, metavar="N", default=2, show_default=True, help="Rows that each stratum gets at least."
)
@click.option("--fpc", is_flag=True, help="The sizes count units, which are drawn without replacement.")
@o.output
def command(
    file: str,
    se: float | None,
    rows: int | None,
    measure: str,
    of: str | None,
    allocation: Any,
    minimum: int,
    fpc: bool,
    output: Output,
) -> None:
    """Plan a stratified sample of a map: how many rows, and how many in each stratum.

    FILE has a row for each class of the map and three columns, in this order: the class, its mapped size, and a guess
    of its user's accuracy. Or it is the stored table of a pilot sample, which `wmcc tabulate -o` wrote.
    """
    from ..core.joint import JointTable
    from ..core.tables import Tables
    from ..errors import InputError
    from ..mapping.planning import plan_sample
    from ..sources.options import LAYERS, RASTERS
    from . import standard_input
    from .stored import read

    output.check([file])
    if file.lower().endswith((*RASTERS, *LAYERS)):
        raise InputError(
            f"{file} is a map; expected a table of its classes, their mapped sizes and guesses of their accuracy.",
            f"`wmcc tabulate {file} {file} --weight area` shows the sizes of the classes of a raster."
            if file.lower().endswith(RASTERS)
            else None,
        )
    guess: Any
    population = None
    if standard_input.is_stream(file) or file.endswith(".json"):
        guess = read(file)
        if isinstance(guess, (JointTable, Tables)):
            what = "several groups" if isinstance(guess, Tables) else "several predictions"
            raise InputError(f"{standard_input.said(file)} holds tables of {what}; expected one table.")
        labels = guess.classes
    else:
        population, guess = _strata(file)
        labels = tuple(guess)
    label = next((x for x in labels if str(x) == of), of)
    output.write(
        plan_sample(
            guess,
            population,
            se=se,
            n=rows,
            measure=measure,
            of=label,
            allocation=allocation,
            minimum=minimum,
            fpc=fpc,
        )
    )


def _strata(name: str) -> tuple[dict[Any, float], dict[Any, float]]:
    """Sizes and guessed accuracies of strata, from a file."""
    from ..errors import InputError
    from ..present.text import brief
    from ..sources.texts import reader
    from .sizes import as_number, read_columns

    columns, is_text = read_columns(name)
    if len(columns) != len(COLUMNS):
        raise InputError(
            f"{name} has {len(columns)} columns; expected three, in this order: {', '.join(COLUMNS)}.",
            "select these columns; a pilot sample is first stored with `wmcc tabulate -o pilot.json`.",
        )
    keys, *numbers = columns.values()
    if None in keys:
        raise InputError(f"{name}: row {keys.index(None) + 1} has no stratum.")
    twice = next((key for key in keys if keys.count(key) > 1), None)
    if twice is not None:
        raise InputError(f"{name} has two rows for {twice!r}; expected one.")
    if is_text:
        keys = list(map(reader(keys), keys))
        numbers = [[x if x is None or as_number(x) is None else float(x) for x in own] for own in numbers]
    _, *names = columns
    expected = ("a number above 0", inf), ("a number between 0 and 1", 1.0)
    for column, own, (what, most) in zip(names, numbers, expected, strict=True):
        for row, (key, x) in enumerate(zip(keys, own, strict=True), 1):
            if not (isinstance(x, (int, float)) and 0 <= x <= most and (x > 0 or most == 1)):
                came = "empty" if x is None or x == "" else brief(x)
                raise InputError(
                    f"{name}: column {column!r} of row {row:,}, stratum {key!r}, is {came}; expected {what}.",
                    "write an accuracy of 90 % as 0.9." if what.endswith("1") else None,
                )
    sizes, guesses = (dict(zip(keys, own, strict=True)) for own in numbers)
    return sizes, guesses
