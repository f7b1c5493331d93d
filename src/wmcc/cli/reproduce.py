"""`wmcc reproduce`; the names of the options are those of `wmcc.experiments.separation`."""

from __future__ import annotations

from typing import Any

import click

from . import options as o


def _whole(name: str, metavar: str, default: int | None, text: str) -> o.Decorator:
    return click.option(name, type=int, metavar=metavar, default=default, show_default=default is not None, help=text)


def _word(name: str, metavar: str, default: str, text: str) -> o.Decorator:
    return click.option(name, metavar=metavar, default=default, show_default=True, help=text)


@o.command(
    """
    wmcc reproduce --out figures
    wmcc reproduce --repetitions 20 --classes 5 --out five
    """,
    sample=False,
)
@_whole("--classes", "K", 3, "Classes of Figure 2.")
@_whole("--n", "N", 150, "Observations.")
@_whole("--section", "L", None, "Length of the section.  [default: a third of N]")
@_word("--weights", "A,B,C", "1,100,10000", "Weights of equal parts of the observations, whole numbers.")
@_whole("--repetitions", "R", 100, "Predictions for each start of the section.")
@_word(
    "--matches",
    "HOW",
    "proportion",
    "proportion (exactly p of the section), chance, or shared: chance, with draws that all starts share.",
)
@_word("--mismatch", "HOW", "uniform", "The class of a mismatch: uniform, next or lowest.")
@_word("--truth", "HOW", "one", "True classes: one draw, each (anew), or balanced.")
@_whole("--seed", "N", 0, "Seed of the random draws.")
@click.option(
    "--out",
    "-o",
    metavar="DIR",
    default="figures",
    show_default=True,
    help="Folder for the files; created if missing.",
)
@o.traceback
def command(weights: str, out: str, traceback: bool, **options: Any) -> None:
    """Reproduce the paper's figures, and check its statements about them.

    Writes both figures of Section 5 as PNG, SVG and CSV, and a verdict on each statement about them.
    The same seed gives the same numbers on any machine. Needs matplotlib.
    """
    from . import reproduction
    from .output import show_blocks

    found = reproduction.reproduced(out, weights=_whole_numbers(weights), **options)
    show_blocks(reproduction.blocks(found, out))


def _whole_numbers(text: str) -> list[int]:
    try:
        return [int(x) for x in text.split(",")]
    except ValueError:
        from ..errors import InputError

        raise InputError(f"--weights is {text!r}; expected whole numbers with commas, as in 1,100,10000.") from None
