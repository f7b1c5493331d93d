"""The options of the paper's experiments; the names are those of `wmcc.experiments.separation`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Concatenate, ParamSpec

import typer

from .data import with_options

P = ParamSpec("P")

Folder = Annotated[
    str, typer.Option("--out", "-o", metavar="DIR", help="Folder for the files, all or none; made if need be.")
]
Classes = Annotated[int, typer.Option("--classes", metavar="K", help="Classes of Figure 2.")]
Number = Annotated[int, typer.Option("--n", metavar="N", help="Observations.")]
Section = Annotated[
    int | None, typer.Option("--section", metavar="L", help="Length of the section.  [default: a third of N]")
]
Profile = Annotated[
    str, typer.Option("--weights", metavar="A,B,C", help="Weights of equal parts of the observations, whole numbers.")
]
Repetitions = Annotated[
    int, typer.Option("--repetitions", metavar="R", help="Predictions for each start of the section.")
]
Matches = Annotated[
    str,
    typer.Option(
        "--matches",
        metavar="HOW",
        help="proportion (exactly p of the section), chance, or shared: chance, with draws that all starts share.",
    ),
]
Mismatch = Annotated[
    str, typer.Option("--mismatch", metavar="HOW", help="The class of a mismatch: uniform, next or lowest.")
]
Truth = Annotated[str, typer.Option("--truth", metavar="HOW", help="True classes: one draw, each (anew), or balanced.")]
Seed = Annotated[int, typer.Option("--seed", metavar="N", help="Where the draws come from.")]


def _listed(
    classes: Classes = 3,
    n: Number = 150,
    section: Section = None,
    weights: Profile = "1,100,10000",
    repetitions: Repetitions = 100,
    matches: Matches = "proportion",
    mismatch: Mismatch = "uniform",
    truth: Truth = "one",
    seed: Seed = 0,
) -> None:
    """Only its signature counts."""


def takes_experiment(command: Callable[Concatenate[dict[str, Any], P], None]) -> Callable[..., None]:
    """Give a command these options before its own, and hand them to it by name."""

    def asked(weights: str, **chosen: Any) -> tuple[dict[str, Any]]:
        return ({"weights": _whole_numbers(weights), **chosen},)

    return with_options(command, _listed, asked)


def _whole_numbers(text: str) -> list[int]:
    try:
        return [int(x) for x in text.split(",")]
    except ValueError:
        from ..errors import InputError

        raise InputError(f"--weights is {text!r}; expected whole numbers with commas, as in 1,100,10000.") from None
