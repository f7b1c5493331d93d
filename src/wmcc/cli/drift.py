"""`wmcc drift`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from . import options as o


@o.command()
@o.data(stored=None)
@o.options("measure", "of", "confidence", "margin")
@o.output()
def command(request: o.DataOptions, asked: o.CommandOptions, output: o.Output) -> None:
    """Compare a classifier before and after, on different rows.

    Give two files, before and after: stored tables, or data with --true and --pred. The two sets of rows are taken as
    independent samples, such as those of last week and this week.

    Examples::

        wmcc tabulate parcels.csv --true label --pred pred --weight area -o monday.json
        wmcc tabulate parcels.csv --true label --pred pred_b --weight area -o tuesday.json
        wmcc drift monday.json tuesday.json
        wmcc drift parcels.csv parcels.csv --true label --pred pred --weight area --measure accuracy
    """
    from ..errors import InputError
    from ..inference.contrasts import compare

    if len(request.files) != 2:
        raise InputError(f"expected two files, before and after; got {len(request.files)}.")
    found: list[Any] = [request.of(name).table() for name in request.files]
    grouped = next((name for name, one in zip(request.files, found, strict=True) if isinstance(one, Mapping)), None)
    if grouped is not None:
        raise InputError(f"{grouped} holds a table for each group; expected one table.", "tabulate without --by.")
    both = dict(zip(("before", "after"), found, strict=True))
    how: dict[str, Any] = {"confidence_level": asked.confidence, "margin": asked.margin}
    output.write(compare(both, asked.measure, sample="independent", of=o.class_of(found[0].classes, asked.of), **how))
