"""`wmcc plan`."""

from __future__ import annotations

from typing import Any

import click

from . import options as o

COLUMNS = ("stratum", "size", "accuracy")
"""Columns of a file of strata, in this order."""


@o.command()
@click.argument("file", metavar="FILE")
@o.option("population", "The map whose classes are the strata; FILE has the class and the accuracy only, then.")
@o.option("pred", "With --population: column of the classes, if the map has polygons.", multiple=False)
@o.options("crs", "band", "se", "rows")
@o.option(
    "measure",
    "What the standard error is of: overall_accuracy, ecc, mpc1, kappa …; with --of users_accuracy, "
    "producers_accuracy, f1, iou or area.",
    default="overall_accuracy",
)
@o.option("of", "The class of a measure of one class.")
@o.options("allocation", "minimum")
@o.option("fpc", "The sizes count units, which are drawn without replacement.", is_flag=True, metavar=None)
@o.output()
def command(asked: o.CommandOptions, output: o.Output) -> None:
    """Plan a stratified sample of a map: how many rows, and how many in each stratum.

    FILE has a row for each class of the map and three columns, in this order: the class, its mapped size, and a guess
    of its user's accuracy. With --population map.tif the sizes are those of the map. Or it is the stored table of a
    pilot sample, which `wmcc tabulate -o` wrote.

    Examples::

        wmcc tabulate parcels.csv --true label --pred pred -o pilot.json
        wmcc plan pilot.json --se 0.01
        wmcc plan pilot.json --rows 500 --measure area --of water
    """
    from ..core.joint import JointTable
    from ..core.tables import Tables
    from ..errors import InputError, WmccError
    from ..mapping.planning import plan_sample
    from ..sources.recognised import LAYERS, RASTERS
    from . import standard_input
    from .request import as_map
    from .stored import read

    file = asked.file
    output.check([file])
    if file.lower().endswith((*RASTERS, *LAYERS)):
        raise InputError(
            f"{file} is a map; expected a table of its classes, their mapped sizes and guesses of their accuracy.",
            f"give a table of two columns, the class and the accuracy, and the map as --population {file}.",
        )
    guess: Any
    population: Any = None
    if standard_input.is_stream(file) or file.endswith(".json"):
        guess = read(file)
        if isinstance(guess, (JointTable, Tables)):
            what = "several groups" if isinstance(guess, Tables) else "several predictions"
            raise InputError(f"{standard_input.said(file)} holds tables of {what}; expected one table.")
        labels = guess.classes
    else:
        columns = tuple(word for word in COLUMNS if word != "size" or asked.population is None)
        population, guess = _strata(file, columns)
        labels = tuple(guess)
    if asked.population is not None:
        population = as_map(asked.population, asked.crs, asked.band)
    how = {name: x for name, x in vars(asked).items() if name not in ("file", "rows", "population", "crs", "band")}
    try:
        plan = plan_sample(guess, population, **how | {"n": asked.rows, "of": o.class_of(labels, asked.of)})
    except WmccError as problem:
        of_file = (
            asked.population is None
            and population is not None
            and (problem.argument or "").startswith(("population[", "guess["))
        )
        raise (problem.about(file) if of_file else problem) from None
    output.write(plan)


def _strata(name: str, expected: tuple[str, ...]) -> tuple[dict[Any, Any] | None, dict[Any, Any]]:
    """Sizes, if they are there, and guessed accuracies of strata, from a file; what they may be the library says."""
    from ..errors import InputError
    from ..sources.text_types import reader
    from .sizes import as_number, as_read, read_columns

    columns, is_text = read_columns(name)
    first = list(columns)
    if is_text and as_number(first[-1]) is not None:
        raise InputError(
            f"the first line of {name} is {','.join(first)!r}; expected names of the columns: {', '.join(expected)}.",
            f"begin the file with the line {','.join(expected).replace(' ', '_')}.",
        )
    if len(columns) != len(expected):
        count = {2: "two", 3: "three"}[len(expected)]
        said = f"{name} has {len(columns)} columns; expected {count}, in this order: {', '.join(expected)}."
        hint = "select these columns; a pilot sample is first stored with `wmcc tabulate -o pilot.json`."
        raise InputError(said, hint)
    for what, values in zip(expected, columns.values(), strict=True):
        if None in values:
            raise InputError(f"{name}: row {values.index(None) + 1} has no {what}.")
    keys, *numbers = columns.values()
    twice = next((key for key in keys if keys.count(key) > 1), None)
    if twice is not None:
        raise InputError(f"{name} has two rows for {twice!r}; expected one.")
    if is_text:
        keys = list(map(reader(keys), keys))
        numbers = [list(map(as_read, own)) for own in numbers]
    *sizes, guesses = (dict(zip(keys, own, strict=True)) for own in numbers)
    return (sizes[0] if sizes else None), guesses
