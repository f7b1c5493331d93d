"""The options that commands share, each with its help."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from . import complete


class Format(StrEnum):
    """How results are written."""

    table = "table"
    json = "json"
    csv = "csv"
    csv_safe = "csv-safe"
    markdown = "markdown"


ENDINGS = {".json": Format.json, ".csv": Format.csv, ".md": Format.markdown, ".txt": Format.table}
"""What the end of an output's name says about its format."""


class InputFormat(StrEnum):
    """What standard input holds; the values are ends of names of files."""

    csv = "csv"
    tsv = "tsv"
    jsonl = "jsonl"
    parquet = "parquet"
    arrow = "arrow"


class ReportFormat(StrEnum):
    """How reports are written."""

    html = "html"
    markdown = "markdown"
    json = "json"


Files = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE",
        help="Files of data (.parquet .csv .tsv .jsonl .arrow), a folder or a quoted pattern; - is standard input.",
    ),
]
Stored = Annotated[list[str], typer.Argument(metavar="TABLE.json", help="Stored tables; - is standard input.")]
OneStored = Annotated[str, typer.Argument(metavar="TABLE.json", help="A stored table; - is standard input.")]
TrueColumn = Annotated[
    str | None,
    typer.Option("--true", metavar="COLUMN", help="Column of true labels.", autocompletion=complete.columns),
]
PredColumn = Annotated[
    str | None,
    typer.Option("--pred", metavar="COLUMN", help="Column of predicted labels.", autocompletion=complete.columns),
]
Weight = Annotated[
    str | None,
    typer.Option("--weight", metavar="COLUMN", help="Column of weights.", autocompletion=complete.columns),
]
By = Annotated[
    list[str] | None,
    typer.Option(
        "--by",
        metavar="COLUMN",
        help="One result per value of this column; repeat it.",
        autocompletion=complete.columns,
    ),
]
Engine = Annotated[
    str | None,
    typer.Option(
        "--engine",
        metavar="NAME",
        help="What reads the files: arrow (default), polars, duckdb, pyspark or dask.",
        autocompletion=complete.engines,
    ),
]
InputFormatOption = Annotated[
    InputFormat | None,
    typer.Option(
        "--input-format",
        help="What standard input holds, where its beginning does not tell.",
        show_default=False,
        case_sensitive=False,
    ),
]
Labels = Annotated[
    list[str] | None,
    typer.Option(
        "--labels",
        metavar="A,B,C",
        help="The classes and their order. Text with a comma is quoted: '\"a, b\",c'.",
    ),
]
Ignore = Annotated[
    list[str] | None,
    typer.Option("--ignore", metavar="A,B", help="Labels whose rows are left out, and counted. Written like --labels."),
]
Positive = Annotated[
    str | None, typer.Option("--positive", metavar="LABEL", help="The positive class of a two-class table.")
]
Join = Annotated[
    str | None, typer.Option("--join", metavar="FILE", help="File of predictions; FILE then holds the truth.")
]
On = Annotated[
    list[str] | None,
    typer.Option(
        "--on",
        metavar="COLUMN",
        help="With --join: column that identifies a row in both; repeat it.",
        autocompletion=complete.columns,
    ),
]
Unmatched = Annotated[
    bool,
    typer.Option("--allow-unmatched", help="With --join: leave out rows without a partner, and count them as ignored."),
]
Predictions = Annotated[
    list[str] | None,
    typer.Option(
        "--pred",
        metavar="COLUMN",
        help="Column of predicted labels; repeat it for each classifier.",
        autocompletion=complete.columns,
    ),
]
MeasureName = Annotated[
    str,
    typer.Option(
        "--measure",
        metavar="NAME",
        help="mcc, ecc, mpc1, mpc2, accuracy, balanced_accuracy or kappa.",
        autocompletion=complete.measures,
    ),
]
BestMeasure = Annotated[
    str | None,
    typer.Option(
        "--measure",
        metavar="NAME",
        help="What classifiers are compared by.  [default: mcc for two classes, ecc for more]",
        autocompletion=complete.measures,
    ),
]
Confidence = Annotated[
    float, typer.Option("--confidence", metavar="X", help="How often intervals made this way hold the true score.")
]
Cluster = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="COLUMN",
        help="Column that says what rows belong together (scene, patient), and need not be independent.",
        autocompletion=complete.columns,
    ),
]
Margin = Annotated[
    float | None,
    typer.Option("--margin", metavar="X", help="How much lower the first may score and still be good enough."),
]
EpsToo = Annotated[
    float | None,
    typer.Option("--eps", metavar="X", help="Beside intervals, certify ranges for weights off by this much."),
]
Eps = Annotated[float, typer.Option("--eps", metavar="X", help="How far each weight may be off.")]
FirstEps = Annotated[
    float, typer.Option("--eps", metavar="X", help="How far each weight may be off, where the slider stands at first.")
]
SeveralEps = Annotated[
    list[float] | None,
    typer.Option("--eps", metavar="X", help="How far each weight may be off; repeat it for a curve.  [default: 0.1]"),
]
Relative = Annotated[
    bool | None,
    typer.Option(
        "--relative/--absolute",
        help="Off by a share of itself, as 0.1 for 10 % (default), or by an amount.",
        show_default=False,
    ),
]
Lower = Annotated[
    str | None,
    typer.Option(
        "--lower",
        metavar="COLUMN",
        help="Instead of --eps: column of the smallest weight that a row may have.",
        autocompletion=complete.columns,
    ),
]
Upper = Annotated[
    str | None,
    typer.Option(
        "--upper",
        metavar="COLUMN",
        help="Instead of --eps: column of the largest weight that a row may have.",
        autocompletion=complete.columns,
    ),
]
Threshold = Annotated[
    float | None, typer.Option("--threshold", metavar="X", help="A value that the measure is not to cross.")
]
Change = Annotated[
    float | None, typer.Option("--change", metavar="X", help="Instead: how much the measure may change.")
]
NoRadius = Annotated[
    bool, typer.Option("--no-radius", help="Do not search for the ε up to which the leader leads; it takes longest.")
]
Gap = Annotated[
    float | None,
    typer.Option("--gap", metavar="X", help="Stop where a bound is this near to a value that is attained."),
]
Nodes = Annotated[
    int | None, typer.Option("--nodes", metavar="N", help="Stop the search for an end of a range after so many boxes.")
]
Seconds = Annotated[
    float | None, typer.Option("--seconds", metavar="S", help="Stop the search for an end of a range after so long.")
]
ZeroDivision = Annotated[
    str,
    typer.Option(
        "--zero-division", metavar="VALUE", help="What an undefined measure is: a number, nan, warn or raise."
    ),
]
FormatOption = Annotated[
    Format | None,
    typer.Option(
        "--format",
        "-f",
        help="How to write the result; csv-safe is csv without formulas, for spreadsheets.",
        show_default=False,
        case_sensitive=False,
    ),
]
ReportFormatOption = Annotated[
    ReportFormat | None,
    typer.Option("--format", "-f", help="How to write the report.", show_default=False, case_sensitive=False),
]
Title = Annotated[str | None, typer.Option("--title", metavar="TEXT", help="Title of the page.")]
Out = Annotated[
    str | None,
    typer.Option(
        "--out",
        "-o",
        metavar="FILE",
        help="Write there, all or nothing, instead of printing.",
        callback=lambda name: None if name == "-" else name,  # as other tools take it
    ),
]
Page = Annotated[
    str, typer.Option("--out", "-o", metavar="FILE", help="Where the report goes: .html, .md or .json, all or nothing.")
]
Traceback = Annotated[bool, typer.Option("--traceback", help="Show where an error comes from.")]
