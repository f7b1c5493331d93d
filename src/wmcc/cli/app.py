"""The commands."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import options as o
from . import output
from .data import takes_data, takes_predictions
from .experiment import Folder, takes_experiment
from .guard import Group
from .results import show as _show
from .results import write as _write
from .results import write_tables as _write_tables

if TYPE_CHECKING:
    from .reading import Request

app = typer.Typer(
    name="wmcc",
    cls=Group,
    help="Scores for classifiers whose observations do not count equally.",
    no_args_is_help=True,
    rich_markup_mode=None,  # plain help: it comes at once, and examples can be copied from it
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="""\b
Example:
  $ wmcc sample -o parcels.csv
  $ wmcc score parcels.csv --true label --pred pred --weight area""",
)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"wmcc {version('wmcc')}")
        raise typer.Exit


@app.callback()
def wmcc(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Scores for classifiers whose observations do not count equally."""


@app.command(
    epilog="""\b
Examples, on the sample that `wmcc sample -o parcels.csv` writes:
  $ wmcc score parcels.csv --true label --pred pred --weight area
  $ wmcc score parcels.csv --true label --pred pred --weight area --by region
  $ wmcc score parcels.csv --true label --pred pred --weight area --confidence 0.9 --eps 0.1
  $ wmcc score parcels.csv --true label --pred pred --ignore water --format json
  $ wmcc tabulate parcels.csv --true label --pred pred -o table.json
  $ wmcc score table.json"""
)
@takes_data
def score(
    request: "Request",
    confidence: o.Confidence = 0.95,
    cluster: o.Cluster = None,
    eps: o.EpsToo = None,
    relative: o.Relative = None,
    zero_division: o.ZeroDivision = "0",
    format: o.FormatOption = None,  # noqa: A002
    out: o.Out = None,
    traceback: o.Traceback = False,
) -> None:
    """Score data or a stored table.

    MCC, ECC, MPC1, MPC2, accuracy, balanced accuracy and kappa, with intervals for other rows and, with --eps, ranges
    for other weights; precision, recall, F1, IoU and MCC of each class.
    Without --true and --pred, FILE is a table that `wmcc tabulate -o` or `wmcc merge -o` wrote.
    """
    output.check(out, request.files)
    from ..inference.interval import checked_level
    from . import records, robust, score_blocks, scores

    asked = scores.zero_division(zero_division), checked_level(confidence), robust.beside("ecc", eps, relative)
    result = scores.score_all(request.clustered(cluster).read(), *asked)
    _write(result, format, out, records.scores_json, records.scores_csv, score_blocks.of_scores)


@app.command(
    epilog="""\b
Examples, on the sample that `wmcc sample -o parcels.csv` writes:
  $ wmcc compare parcels.csv --true label --pred pred --pred pred_c --weight area
  $ wmcc compare parcels.csv --true label --pred pred --pred pred_b --weight area --cluster region --margin 0.02
  $ wmcc compare parcels.csv --true label --pred pred --pred pred_b --pred pred_c --weight area --eps 0.1"""
)
@takes_predictions(2)
def compare(
    request: "Request",
    preds: list[str],
    measure: o.MeasureName = "ecc",
    confidence: o.Confidence = 0.95,
    cluster: o.Cluster = None,
    margin: o.Margin = None,
    eps: o.EpsToo = None,
    relative: o.Relative = None,
    format: o.FormatOption = None,  # noqa: A002
    out: o.Out = None,
    traceback: o.Traceback = False,
) -> None:
    """Compare classifiers on the same rows, and tell a difference from chance.

    The difference of their scores for each pair, with its interval and a p-value, which is corrected for the number of
    pairs; with --eps the range that it has for other weights.
    """
    output.check(out, request.files)
    from . import comparison_blocks, comparison_records, comparisons, robust

    asked = comparisons.Asked(measure, confidence, margin, robust.beside(measure, eps, relative))
    result = comparisons.compared(request.clustered(cluster), preds, asked)
    text = comparison_records.comparisons_json, comparison_records.comparisons_csv
    _write(result, format, out, *text, comparison_blocks.of_comparisons)


@app.command(
    epilog="""\b
Examples, on the sample that `wmcc sample -o parcels.csv` writes:
  $ wmcc certify parcels.csv --true label --pred pred --weight area --eps 0.05 --eps 0.2
  $ wmcc certify parcels.csv --true label --pred pred --weight area --by region
  $ wmcc certify parcels.csv --true label --pred pred --weight area --measure kappa --eps 0.05 --absolute
  $ wmcc tabulate parcels.csv --true label --pred pred --weight area -o table.json
  $ wmcc certify table.json --format json"""
)
@takes_data
def certify(
    request: "Request",
    measure: o.MeasureName = "ecc",
    eps: o.SeveralEps = None,
    relative: o.Relative = None,
    lower: o.Lower = None,
    upper: o.Upper = None,
    gap: o.Gap = None,
    nodes: o.Nodes = None,
    seconds: o.Seconds = None,
    format: o.FormatOption = None,  # noqa: A002
    out: o.Out = None,
    traceback: o.Traceback = False,
) -> None:
    """Certify the range of a measure when weights may be off.

    Each weight may be off on its own, by --eps or between --lower and --upper. An end of the range is attained by some
    weights, or it is a bound, and the gap says how near a value comes that is attained.
    """
    output.check(out, request.files)
    from . import robust, robust_blocks, robust_records

    limits = {"gap": gap, "nodes": nodes, "seconds": seconds}
    asked = robust.Asked(measure, relative, eps or [], limits, lower, upper)
    result = robust.certificates(request, asked)
    text = robust_records.certificates_json, robust_records.certificates_csv
    _write(result, format, out, *text, robust_blocks.of_certificates)


@app.command(
    epilog="""\b
Examples, on the sample that `wmcc sample -o parcels.csv` writes:
  $ wmcc radius parcels.csv --true label --pred pred --weight area --threshold 0.85
  $ wmcc radius parcels.csv --true label --pred pred --weight area --measure accuracy --change 0.01
  $ wmcc tabulate parcels.csv --true label --pred pred --weight area -o table.json
  $ wmcc radius table.json --change 0.05 --absolute"""
)
@takes_data
def radius(
    request: "Request",
    measure: o.MeasureName = "ecc",
    threshold: o.Threshold = None,
    change: o.Change = None,
    relative: o.Relative = None,
    gap: o.Gap = None,
    nodes: o.Nodes = None,
    seconds: o.Seconds = None,
    format: o.FormatOption = None,  # noqa: A002
    out: o.Out = None,
    traceback: o.Traceback = False,
) -> None:
    """Find how far weights may be off for a score to hold.

    To hold is not to cross --threshold, or not to move by more than --change. Up to the first ε that is certain; at the
    second there are weights with which it does not.
    """
    output.check(out, request.files)
    from . import robust, robust_blocks, robust_records

    asked = robust.Asked(measure, relative, limits={"gap": gap, "nodes": nodes, "seconds": seconds})
    result = robust.radii(request, asked, threshold, change)
    _write(result, format, out, robust_records.radii_json, robust_records.radii_csv, robust_blocks.of_radii)


@app.command(
    epilog="""\b
Examples, on the sample that `wmcc sample -o parcels.csv` writes:
  $ wmcc rank parcels.csv --true label --pred pred --pred pred_c --weight area
  $ wmcc rank parcels.csv --true label --pred pred --pred pred_b --pred pred_c --weight area --eps 0.2 --no-radius"""
)
@takes_predictions(2)
def rank(
    request: "Request",
    preds: list[str],
    measure: o.MeasureName = "ecc",
    eps: o.Eps = 0.1,
    relative: o.Relative = None,
    no_radius: o.NoRadius = False,
    gap: o.Gap = None,
    nodes: o.Nodes = None,
    seconds: o.Seconds = None,
    format: o.FormatOption = None,  # noqa: A002
    out: o.Out = None,
    traceback: o.Traceback = False,
) -> None:
    """Certify which classifier wins when weights may be off.

    The weights are the same for all of them, so it is the difference of two scores that is certified, for each pair;
    and how far weights may be off before the one that leads may be overtaken.
    """
    output.check(out, request.files)
    from . import robust, robust_blocks, robust_records

    asked = robust.Asked(measure, relative, [eps], {"gap": gap, "nodes": nodes, "seconds": seconds})
    result = robust.rankings(request, preds, asked, not no_radius)
    _write(result, format, out, robust_records.rankings_json, robust_records.rankings_csv, robust_blocks.of_rankings)


@app.command(
    epilog="""\b
Examples, on the sample that `wmcc sample -o parcels.csv` writes:
  $ wmcc report parcels.csv --true label --pred pred --pred pred_b --weight area -o report.html
  $ wmcc report parcels.csv --true label --pred pred --weight area --threshold 0.85 -o report.md"""
)
@takes_predictions(1)
def report(
    request: "Request",
    preds: list[str],
    measure: o.BestMeasure = None,
    eps: o.FirstEps = 0.1,
    threshold: o.Threshold = None,
    confidence: o.Confidence = 0.95,
    cluster: o.Cluster = None,
    title: o.Title = None,
    format: o.ReportFormatOption = None,  # noqa: A002
    out: o.Out = None,
    traceback: o.Traceback = False,
) -> None:
    """Write a page about one classifier or several.

    One file that loads nothing: the answer in a sentence, scores, both uncertainties with a slider for how far weights
    are off, comparisons, confusion tables, classes, weights, warnings and formulas. Without -o it is printed, as
    Markdown.
    """
    output.check(out, request.files)
    from ..report.write import form_of
    from . import reports

    form = form_of(out, format)
    asked = {"measure": measure, "eps": eps, "threshold": threshold, "confidence_level": confidence}
    output.emit(reports.report(request.clustered(cluster), preds, asked, title, form), out)


@app.command(
    epilog="""\b
Examples, on the sample that `wmcc sample -o parcels.csv` writes:
  $ wmcc tabulate parcels.csv --true label --pred pred --weight area
  $ wmcc tabulate parcels.csv --true label --pred pred --by region -o regions.json
  $ wmcc show regions.json"""
)
@takes_data
def tabulate(
    request: "Request",
    cluster: o.Cluster = None,
    format: o.FormatOption = None,  # noqa: A002
    out: o.Out = None,
    traceback: o.Traceback = False,
) -> None:
    """Make the weighted confusion table of data.

    With -o it is stored, to be merged with others and scored later. With --cluster it keeps which rows belong together.
    """
    if request.is_stored:
        from ..errors import InputError

        raise InputError("expected --true and --pred: the columns of labels.", "`wmcc show` shows a stored table.")
    output.check(out, request.files)
    _write_tables(request.clustered(cluster).tables(), format, out)


@app.command(
    epilog="""\b
Examples, on the sample that `wmcc sample -o parcels.csv` writes:
  $ wmcc tabulate parcels.csv --true label --pred pred --weight area -o monday.json
  $ wmcc tabulate parcels.csv --true label --pred pred --weight area -o tuesday.json
  $ wmcc merge monday.json tuesday.json -o week.json
  $ wmcc score week.json"""
)
def merge(
    tables: o.Stored,
    format: o.FormatOption = None,  # noqa: A002
    out: o.Out = None,
    traceback: o.Traceback = False,
) -> None:
    """Add up stored tables, exactly.

    The result is, to the last bit, the table of all rows. Tables of groups are added up group by group.
    """
    from . import stored

    output.check(out)
    _write_tables(stored.merge(tables), format, out)


@app.command(
    epilog="""\b
Examples, on the sample that `wmcc sample -o parcels.csv` writes:
  $ wmcc tabulate parcels.csv --true label --pred pred --weight area -o table.json
  $ wmcc show table.json
  $ wmcc show table.json --format markdown"""
)
def show(
    table: o.OneStored,
    format: o.FormatOption = None,  # noqa: A002
    out: o.Out = None,
    traceback: o.Traceback = False,
) -> None:
    """Show a stored table."""
    from . import stored

    output.check(out)
    _write_tables(stored.read(table), format, out)


@app.command(
    epilog="""\b
Examples:
  $ wmcc demo"""
)
def demo(out: o.Page = "wmcc-demo.html", traceback: o.Traceback = False) -> None:
    """Show what weights do, on a map that it makes.

    2,000 parcels, two classifiers that plain MCC cannot tell apart: scored, compared, certified, and a report on both.
    """
    from .. import demo

    output.emit(demo.story(out), None)


@app.command(
    epilog="""\b
Examples:
  $ wmcc sample
  $ wmcc sample -o parcels.csv"""
)
def sample(out: o.Out = None, traceback: o.Traceback = False) -> None:
    """Write the sample that the examples read.

    360 parcels of a map, with their true class, those of three classifiers, their area in hectares and their region.
    """
    from importlib.resources import files

    output.check(out)
    output.emit((files("wmcc") / "data" / "parcels.csv").read_text(encoding="utf-8"), out)


@app.command(
    epilog="""\b
Examples:
  $ wmcc reproduce --out figures
  $ wmcc reproduce --repetitions 20 --classes 5 --out five"""
)
@takes_experiment
def reproduce(options: dict[str, Any], out: Folder = "figures", traceback: o.Traceback = False) -> None:
    """Reproduce the paper's figures, and judge what it says about them.

    Both figures of its Section 5 as PNG, SVG and CSV, and its sentences about them with a verdict from the numbers.
    The same seed gives the same numbers on any machine. Needs matplotlib: pip install 'wmcc[plot]'.
    """
    from . import reproduction

    _show(reproduction.blocks(reproduction.reproduced(out, **options), out), o.Format.table, None)
