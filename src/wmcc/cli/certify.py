"""`wmcc certify`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from . import complete
from . import options as o

if TYPE_CHECKING:
    from ..robustness.certificate import Certificate, Curve
    from .output import Output
    from .request import Request


def _bound(side: str, which: str) -> o.Decorator:
    return click.option(
        f"--{side}",
        metavar="COLUMN",
        help=f"Instead of --eps: column of the {which} weight that a row may have.",
        shell_complete=complete.columns,
    )


@o.command("""
    wmcc certify parcels.csv --true label --pred pred --weight area --eps 0.05 --eps 0.2
    wmcc certify parcels.csv --true label --pred pred --weight area --by region
    wmcc certify parcels.csv --true label --pred pred --weight area --measure kappa --eps 0.05 --absolute
    wmcc tabulate parcels.csv --true label --pred pred --weight area -o table.json
    wmcc certify table.json --format json
""")
@o.data()
@o.measure
@o.several_eps
@o.model
@_bound("lower", "smallest")
@_bound("upper", "largest")
@o.limits
@o.output
def command(
    request: Request,
    measure: str,
    eps: tuple[float, ...],
    relative: bool | None,
    lower: str | None,
    upper: str | None,
    limits: dict[str, Any],
    output: Output,
) -> None:
    """Certify the range of a measure when weights may be off.

    Each weight may be off on its own, by --eps or between --lower and --upper. An end of the range is
    either reached by some weights, or a proved bound with the gap to a value that is reached.
    """
    from ..errors import InputError
    from ..robustness.certification import certify, certify_curve
    from .request import per_group, rehearse

    output.check(request.files)
    columns = {side: column for side, column in (("lower", lower), ("upper", upper)) if column is not None}
    if columns and (eps or relative is not None):
        name = "--eps" if eps else "--relative" if relative else "--absolute"
        raise InputError(f"{name} cannot be given with --lower and --upper, which say how far weights may be off.")
    if columns and request.is_stored:
        name = next(iter(columns))
        raise InputError(f"--{name} names a column of a data file; name its labels with --true and --pred.")
    model = o.model_of(relative)

    def ask(table: Any, **bounds: Any) -> Certificate | Curve:
        if bounds:
            return certify(table, measure, **bounds, **limits)
        if len(eps) > 1:
            return certify_curve(table, measure, eps=eps, model=model, **limits)
        return certify(table, measure, eps=eps[0] if eps else 0.1, model=model, **limits)

    rehearse(ask)
    found = request.table()
    sides = {side: request.tabulated(column) for side, column in columns.items()}
    output.write(per_group(found, ask, beside=sides))
