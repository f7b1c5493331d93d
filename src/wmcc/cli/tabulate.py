"""`wmcc tabulate`."""

from __future__ import annotations

from . import options as o


@o.command()
@o.data(1, None)
@o.output()
def command(request: o.DataOptions, asked: o.CommandOptions, output: o.Output) -> None:
    """Make a weighted confusion table.

    With -o it is stored, to be merged with others and scored later. With --cluster, --stratum or --replicates the table
    keeps how its rows were drawn. With several --pred it keeps how the predictions agree, so that they can be compared.
    With --score it is a table over all thresholds, or with --threshold that of one.

    Examples::

        wmcc tabulate parcels.csv --true label --pred pred --weight area
        wmcc tabulate parcels.csv --true label --pred pred --by region -o regions.json
        wmcc show regions.json
        wmcc tabulate parcels.csv --true label --pred pred --pred pred_b --weight area -o both.json
        wmcc compare both.json
        wmcc tabulate parcels.csv --true label --score prob --weight area --ignore water -o scores.json
    """
    from ..errors import InputError

    if request.kind == "stored":
        raise InputError("expected --true and --pred: the columns of labels.", "`wmcc show` shows a stored table.")
    if request.score and request.by:
        raise InputError(
            "--score and --by are both given; a score table is stored alone.",
            "leave --by out; `wmcc threshold` takes both, and chooses for each group.",
            "by",
        )
    output.write(request.part())
