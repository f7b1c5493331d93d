"""The options that commands share, each with its help."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Literal

import click

from . import complete

Run = Callable[..., None]
Decorator = Callable[[Run], Run]
Model = Literal["relative", "absolute"]


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


def command(examples: str, *, sample: bool = True) -> Callable[[Run], click.Command]:
    """Make a command of a function; its examples are lines of a shell, on the sample or on nothing."""
    on = "Examples, on the sample that `wmcc sample -o parcels.csv` writes:" if sample else "Examples:"
    lines = "\n".join(f"  $ {line.strip()}" for line in examples.strip().splitlines())
    return click.command(cls=Command, epilog=f"\b\n{on}\n{lines}")


def _column(name: str, text: str, *, multiple: bool = False, dest: str | None = None) -> Decorator:
    return click.option(
        name,
        *([dest] if dest else []),
        metavar="COLUMN",
        multiple=multiple,
        help=text,
        shell_complete=complete.columns,
    )


def _sizes(name: str, text: str) -> Decorator:
    return click.option(name, metavar="FILE|COLUMN", help=text, shell_complete=complete.columns)


def _number(name: str, text: str, metavar: str = "X", **settings: Any) -> Decorator:
    return click.option(name, type=float, metavar=metavar, help=text, **settings)


_FILES = click.argument("files", metavar="FILE...", nargs=-1, required=True)
_DATA: dict[str, Decorator] = {
    "files": _FILES,
    "images": click.option(
        "--images",
        is_flag=True,
        help="FILE... are folders of images, paired by name: the truth, then each prediction, as pred/ or NAME=pred/; "
        "or patterns in quotes, as 'truth/*_labelIds.png'. Images are clusters.",
    ),
    "weights": click.option(
        "--weights",
        metavar="FOLDER|FILE",
        help="Weights of pixels: with --images a folder, or pattern, of weight maps; with rasters a raster.",
    ),
    "weight_map": click.option(
        "--weight-map",
        metavar="NAME",
        help="With --images: make weights of each true label map, as border:sigma=5; see docs/weightmaps.md.",
    ),
    "true": _column("--true", "Column of true labels."),
    "pred": _column("--pred", "Column of predicted labels.", multiple=True),
    "weight": _column("--weight", "Column of weights; or the word area: the areas of polygons or pixels."),
    "by": _column(
        "--by",
        "One result per value of this column; may be repeated. With --images the word folder: one per folder. With "
        "rasters a raster of zones.",
        multiple=True,
    ),
    "cluster": _column(
        "--cluster",
        "Column of clusters: rows that belong together (scene, patient) and may be dependent; "
        "repeat it where a key is unique only within another column. With --images the word folder, with rasters a "
        "raster of zones.",
        multiple=True,
    ),
    "stratum": _column(
        "--stratum",
        "Column of strata: parts of the population that were sampled separately; repeat it for several columns. "
        "With --cluster, clusters were drawn in the strata.",
        multiple=True,
    ),
    "population": _sizes(
        "--population",
        "Size of each stratum, an area or a number of rows: a file whose last column has the sizes and whose others "
        "have the strata, or a column; without --stratum a number. Without --weight it gives the weights.",
    ),
    "fpc": _sizes(
        "--fpc",
        "Finite population correction: how many rows, or clusters, each stratum has, given as --population is; "
        "or the word population, if --population has these numbers.",
    ),
    "lonely": click.option(
        "--lonely",
        type=click.Choice(["error", "adjust", "average", "certainty", "collapse"]),
        help="For a stratum of which a single row, or cluster, was sampled: error gives no interval (default), adjust "
        "takes its distance from the mean of all, average takes the average of the other strata, certainty counts its "
        "variance as 0, collapse joins it with the next stratum.",
    ),
    "poststratum": _column(
        "--poststratum", "Column of post-strata, groups whose totals are known; may be repeated.", multiple=True
    ),
    "totals": _sizes("--totals", "Known total of each post-stratum, which weights are scaled to: a file, or a column."),
    "replicates": click.option(
        "--replicates",
        metavar="PATTERN",
        multiple=True,
        help="Columns of replicate weights, as 'rw*'; or repeat it for each column.",
        shell_complete=complete.columns,
    ),
    "method": click.option(
        "--method",
        type=click.Choice(["jk1", "jkn", "brr", "fay", "bootstrap", "sdr"]),
        help="With --replicates: how they were made.",
    ),
    "scales": click.option(
        "--scales",
        metavar="A,B,…",
        help="With --replicates: factors of squared deviations, one for each or one for all; or a file of them.",
    ),
    "fay": click.option("--fay", type=float, metavar="K", help="With --method fay: its coefficient."),
    "df": click.option(
        "--df",
        type=float,
        metavar="N",
        help="With --replicates: degrees of freedom, clusters of the survey less strata; by default replicates less 1.",
    ),
    "engine": click.option(
        "--engine",
        metavar="NAME",
        help="Engine that reads the files: arrow (default), polars, duckdb, pyspark or dask.",
        shell_complete=complete.engines,
    ),
    "input_format": click.option(
        "--input-format",
        type=click.Choice(["csv", "tsv", "jsonl", "parquet", "arrow"], case_sensitive=False),
        help="Format of standard input, if it cannot be guessed.",
    ),
    "labels": click.option(
        "--labels",
        metavar="A,B,C",
        multiple=True,
        help="The classes and their order. Text with a comma is quoted: '\"a, b\",c'.",
    ),
    "names": click.option(
        "--names",
        metavar="LABEL=NAME",
        multiple=True,
        help="Name of a class, such as 0=road; repeat it, or give a file (.json, or one name per line).",
    ),
    "ignore": click.option(
        "--ignore",
        metavar="A,B",
        multiple=True,
        help="True labels whose rows are left out and counted; written like --labels.",
    ),
    "missing": click.option(
        "--missing",
        type=click.Choice(["error", "ignore"]),
        help="Whether rows without a label are refused (default), or left out and counted.",
    ),
    "positive": click.option("--positive", metavar="LABEL", help="The positive class of a two-class table."),
    "join": click.option("--join", metavar="FILE", help="File of predictions; FILE then holds the truth."),
    "on": _column("--on", "With --join: column that identifies a row in both; repeat it.", multiple=True),
    "unmatched": click.option(
        "--unmatched",
        type=click.Choice(["error", "ignore"]),
        help="With --join: whether rows without a partner are refused (default), or left out and counted.",
    ),
    "layer": click.option(
        "--layer", metavar="NAME", help="Layer of a file of polygons that has several.", shell_complete=complete.layers
    ),
    "overlay": click.option(
        "--overlay",
        metavar="FILE",
        multiple=True,
        help="Map that is laid over FILE, the reference: polygons, with their class in the column --pred; or, over "
        "points, a raster. Over points several may be given, as NAME=FILE.",
    ),
    "overlay_layer": click.option(
        "--overlay-layer",
        metavar="NAME",
        help="With --overlay: layer of a map that has several.",
        shell_complete=complete.layers,
    ),
    "uncovered": click.option(
        "--uncovered",
        type=click.Choice(["class", "error"]),
        help="With --overlay: whether parts of the reference that the map does not cover are errors of the map (class, "
        "default), or refused.",
    ),
    "sliver": _number("--sliver", "With --overlay: leave out pieces of a smaller area, in --unit, and count them."),
    "xy": click.option(
        "--xy", metavar="X,Y", help="Columns of coordinates of points in a table, as lon,lat; they need --crs."
    ),
    "crs": click.option(
        "--crs", metavar="CRS", help="Coordinate reference system of a file that does not say its own, as EPSG:25832."
    ),
    "area": click.option(
        "--area",
        type=click.Choice(["geodesic", "equal-area"]),
        help="With --weight area: areas of polygons on the ellipsoid (default), or on an equal-area projection.",
    ),
    "unit": click.option(
        "--unit",
        metavar="UNIT",
        help="With --weight area: ha (default), km2 or m2. For `wmcc map` and `wmcc report` also the unit of areas in "
        "a table, which is written beside them.",
    ),
    "band": click.option("--band", type=int, metavar="N", help="Band of raster files that have several."),
    "align": click.option(
        "--align",
        type=click.Choice(["nearest"]),
        help="Bring maps to the pixels of the true raster, each taking the label of the nearest.",
    ),
    "blocks": click.option(
        "--blocks",
        metavar="N",
        help="Side of square blocks of a raster, in pixels, which are clusters then; or rows and columns, as 64,128.",
    ),
}


def data(least: int = 1, most: int | None = 1, stored: int | None = 1, units: bool = False) -> Decorator:
    """Give a command the options that say what to read, and hand it the `DataOptions` that they make.

    ``least`` and ``most`` say how many predictions it takes, and ``stored`` how many stored tables; ``units`` whether
    it writes the unit of weights beside them.
    """

    def decorate(run: Run) -> Run:
        @functools.wraps(run)
        def with_request(**given: Any) -> None:
            from .request import DataOptions  # brings what reads files, which --help does without

            request = DataOptions(**{name: given.pop(name) for name in _DATA})
            request.check(least, most, stored, units)
            run(request, **given)

        return _with(with_request, *_DATA.values())

    return decorate


def output(run: Run) -> Run:
    """Give a command the options of what is written, and hand it the `Output` that they make."""

    @functools.wraps(run)
    def with_output(*args: Any, **given: Any) -> None:
        from .output import Output

        made = Output.of(given.pop("format"), given.pop("out"))
        given.pop("traceback")
        run(*args, **given, output=made)

    return _with(with_output, format_, out, traceback)


def _with(run: Run, *decorators: Decorator) -> Run:
    for decorate in reversed(decorators):
        run = decorate(run)
    return run


def limits(run: Run) -> Run:
    """Give a command the options that end a search, and hand it those that were given."""

    @functools.wraps(run)
    def with_limits(*args: Any, **given: Any) -> None:
        chosen = {name: given.pop(name) for name in ("gap", "nodes", "seconds")}
        run(*args, **given, limits={name: x for name, x in chosen.items() if x is not None})

    gap = _number("--gap", "Stop when a bound is this close to a value that some weights reach.")
    nodes = click.option(
        "--nodes", type=int, metavar="N", help="Stop the search for an end of a range after this many boxes."
    )
    seconds = _number("--seconds", "Stop the search for an end of a range after this many seconds.", "S")
    return _with(with_limits, gap, nodes, seconds)


def bounds(run: Run) -> Run:
    """Give a command the options of bounds of the weights, and hand it the columns that were named, by side."""

    @functools.wraps(run)
    def with_bounds(*args: Any, **given: Any) -> None:
        columns = {side: given.pop(side) for side in ("lower", "upper")}
        run(*args, **given, bounds={side: column for side, column in columns.items() if column is not None})

    which = {"lower": "smallest", "upper": "largest"}
    sides = (_column(f"--{side}", f"Column of the {word} weight that a row may have.") for side, word in which.items())
    return _with(with_bounds, *sides)


def model_of(relative: bool | None, eps: float | None = 0.0) -> Model:
    """How weights may be off; without ``eps`` nobody asked, and nobody says how."""
    if relative is not None and eps is None:
        from ..errors import InputError

        name = "relative" if relative else "absolute"
        raise InputError(f"--{name} needs --eps, how far each weight may be off.", argument="eps")
    return "absolute" if relative is False else "relative"


def check_of(measure: str, of: str | None) -> None:
    """Refuse a measure of one class without the class."""
    from ..errors import InputError
    from ..measures import CLASS_MEASURES, MEASURES

    if of is None and measure in CLASS_MEASURES and measure not in MEASURES:
        raise InputError(f"--measure is {measure}, a measure of one class.", "name the class with --of.", "of")


def class_of(table: Any, text: str | None) -> Any:
    """Return the class that ``--of`` names, as a table has it."""
    return next((x for x in table.classes if str(x) == text), text)


FORMATS = {
    "table": ".txt", "json": ".json", "csv": ".csv", "csv-safe": ".csv", "markdown": ".md", "latex": ".tex",
    "html": ".html",
}  # fmt: skip
"""How results are written, and the end of the name of such a file."""

format_ = click.option(
    "--format",
    "-f",
    type=click.Choice(list(FORMATS), case_sensitive=False),
    help="How to print the result; csv-safe is csv without formulas, for spreadsheets.",
)
out = click.option(
    "--out",
    "-o",
    metavar="FILE",
    callback=lambda ctx, param, name: None if name == "-" else name,  # as other tools take it
    help="Write to this file instead of printing: .json .csv .xlsx .parquet .md .tex .html .txt",
)
traceback = click.option("--traceback", is_flag=True, help="Show where an error comes from.")
measure = click.option(
    "--measure",
    metavar="NAME",
    default="ecc",
    show_default=True,
    help="The measure: mcc, ecc, mpc1, mpc2, accuracy, balanced_accuracy, kappa …",
    shell_complete=complete.measures,
)
of = click.option(
    "--of", metavar="CLASS", help="The class of a measure of one class: precision, recall, f1, iou or mcc."
)
best_measure = click.option(
    "--measure",
    metavar="NAME",
    help="Measure by which classifiers are compared.  [default: mcc for two classes, ecc for more]",
    shell_complete=complete.measures,
)
confidence = _number("--confidence", "Confidence level of the intervals.", default=0.95, show_default=True)
margin = _number("--margin", "How much lower the first may score and still be good enough.")
eps_too = _number("--eps", "Also certify ranges for weights off by this much.")
eps = _number("--eps", "How far each weight may be off.  [default: 0.1]")
caps = _number("--cap", "Cut weights above this number to it; repeat it for a curve.", multiple=True)
several_eps = _number("--eps", "How far each weight may be off; repeat it for a curve.  [default: 0.1]", multiple=True)
model = click.option(
    "--relative/--absolute",
    default=None,
    help="Off by a share of itself, as 0.1 for 10 % (default), or by an amount.",
)
at_least = _number("--at-least", "The score must stay at or above this value.")
at_most = _number("--at-most", "The score must stay at or below this value.")
change = _number("--change", "The score must move by no more than this.")
pixel_area = _number(
    "--pixel-area",
    "Area that one unit of the sizes or weights stands for, such as 0.09 for pixels of 30 m and areas in ha.",
    default=1.0,
    show_default=True,
)
stored = click.argument("tables", metavar="TABLE.json...", nargs=-1, required=True)
one_stored = click.argument("table", metavar="TABLE.json")
