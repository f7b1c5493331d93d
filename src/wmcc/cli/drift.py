"""`wmcc drift`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from . import options as o

if TYPE_CHECKING:
    from ..core.labels import Label
    from ..core.table import Table
    from ..inference.comparison import Comparison
    from .output import Output
    from .request import DataOptions

NAMES = ("before", "after")


@o.command("""
    wmcc tabulate parcels.csv --true label --pred pred --weight area -o monday.json
    wmcc tabulate parcels.csv --true label --pred pred_b --weight area -o tuesday.json
    wmcc drift monday.json tuesday.json
    wmcc drift parcels.csv parcels.csv --true label --pred pred --weight area --measure accuracy
""")
@o.data(stored=None)
@o.measure
@o.of
@o.confidence
@o.margin
@o.output
def command(
    request: DataOptions, measure: str, of: str | None, confidence: float, margin: float | None, output: Output
) -> None:
    """Compare a classifier before and after, on different rows.

    Give two files, before and after: stored tables, or data with --true and --pred. The two sets of rows are taken as
    independent samples, such as those of last week and this week.
    """
    from ..core.tables import Tables
    from ..errors import InputError
    from ..inference.contrasts import compare
    from .request import rehearse
    from .startup import load_student

    if len(request.files) != 2:
        raise InputError(f"expected two files, before and after; got {len(request.files)}.")
    output.check(request.files)
    load_student()

    o.check_of(measure, of)

    def ask(tables: list[Table], label: Label | None = None) -> Comparison:
        named = dict(zip(NAMES, tables, strict=True))
        one = o.class_of(tables[0], of) if label is None else label
        return compare(named, measure, of=one, sample="independent", confidence_level=confidence, margin=margin)

    rehearse(lambda table: ask([table, table], None if of is None else 0))
    found: list[Any] = [replace(request, files=(name,)).table() for name in request.files]
    grouped = next((name for name, one in zip(request.files, found, strict=True) if isinstance(one, Tables)), None)
    if grouped is not None:
        raise InputError(f"{grouped} holds a table for each group; expected one table.", "tabulate without --by.")
    output.write(ask(found))
