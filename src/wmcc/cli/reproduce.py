"""`wmcc reproduce`; the names of the options are those of `wmcc.experiments.separation`."""

from __future__ import annotations

from typing import Any

from . import options as o


@o.command(sample=False)
@o.options("classes", "n", "section", "repetitions")
@o.option(
    "weights", "Weights of equal parts of the observations, whole numbers.", metavar="A,B,C", default="1,100,10000"
)
@o.options("matches", "mismatch", "truth", "seed")
@o.place("DIR", "Folder for the files; created if missing.", default="figures")
@o.options("traceback")
def command(weights: str, out: str, **options: Any) -> None:
    """Reproduce the paper's figures, and check its statements about them.

    Writes both figures of Section 5 as PNG, SVG and CSV, and a verdict on each statement about them.
    The same seed gives the same numbers on any machine. Needs matplotlib.

    Examples::

        wmcc reproduce --out figures
        wmcc reproduce --repetitions 20 --classes 5 --out five
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
