"""The paper's experiments as files: two figures, their numbers, and what they say about the paper's sentences."""

from __future__ import annotations

import os
from dataclasses import asdict
from io import BytesIO
from typing import Any

from ..errors import InputError
from ..experiments import Separation, Verdict, separation, verdicts
from ..optional import module
from ..present.blocks import Block
from ..present.files import check_folder, write
from ..present.json_csv import as_records_csv
from ..present.markdown import table

FIGURES = ("figure-1", "figure-2")
NAMES = (*(f"{name}.{end}" for name in FIGURES for end in ("png", "svg", "csv")), "verdicts.csv", "verdicts.md")
DPI = 110


def reproduced(folder: str, classes: int, **options: Any) -> tuple[Verdict, ...]:
    """Run both experiments, write what comes of them into a folder, and return the verdicts."""
    module("matplotlib").use("agg")
    check_folder(folder, NAMES)
    if classes < 3:
        raise InputError(f"--classes is {classes}; expected at least 3.", "Figure 1 is the one of two classes.")
    found = separation(2, **options), separation(classes, **options)
    judged = verdicts(*found)
    files = {
        "verdicts.csv": as_records_csv(list(map(asdict, judged))).encode(),
        "verdicts.md": verdicts_markdown(judged).encode(),
    }
    for name, one in zip(FIGURES, found, strict=True):
        files[f"{name}.csv"] = as_records_csv(one.records()).encode()
        files |= {f"{name}.{end}": picture for end, picture in pictures(one, name).items()}
    os.makedirs(folder, exist_ok=True)
    for name in NAMES:
        write(os.path.join(folder, name), files[name])
    return judged


def pictures(found: Separation, name: str) -> dict[str, bytes]:
    """Draw a figure as PNG and as SVG: the same bytes each time."""
    from .. import plot

    plt = module("matplotlib.pyplot")
    drawn = {}
    with plt.rc_context({"svg.hashsalt": name}):  # from which the parts get their names
        figure = plot.separation(found)[0, 0].figure
        for end, metadata in (("png", {"Software": None}), ("svg", {"Date": None})):
            held = BytesIO()
            figure.savefig(held, format=end, dpi=DPI, metadata=metadata)
            drawn[end] = held.getvalue()
            figure.set_layout_engine("none")  # it is laid out, and that takes longest
        plt.close(figure)
    return drawn


def verdicts_markdown(judged: tuple[Verdict, ...]) -> str:
    """The table of verdicts."""
    rows = [[x.figure, f"“{x.sentence}”", x.verdict, x.found, x.test] for x in judged]
    return table(["figure", "the paper", "verdict", "found", "test"], rows, texts=5) + "\n"


def blocks(judged: tuple[Verdict, ...], folder: str) -> list[Block]:
    """The table of verdicts, the numbers behind them, and where the files are."""
    rows = [[f"{k}. {x.sentence}", x.figure, x.verdict] for k, x in enumerate(judged, 1)]
    listed = Block(head=["The paper", "Figure", "Verdict"], rows=rows)
    numbers = Block("Found (± is one standard error)", notes=[f"{k}. {x.found}." for k, x in enumerate(judged, 1)])
    return [listed, numbers, Block(f"{len(NAMES)} files are in {folder}: {', '.join(NAMES)}.")]
