"""`wmcc radius`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import options as o

if TYPE_CHECKING:
    from ..core.table import Table
    from ..robustness.radii import Radius
    from .output import Output
    from .request import DataOptions


@o.command("""
    wmcc radius parcels.csv --true label --pred pred --weight area --at-least 0.85
    wmcc radius parcels.csv --true label --pred pred --weight area --measure accuracy --change 0.01
    wmcc tabulate parcels.csv --true label --pred pred --weight area -o table.json
    wmcc radius table.json --change 0.05 --absolute
""")
@o.data()
@o.measure
@o.at_least
@o.at_most
@o.change
@o.model
@o.limits
@o.output
def command(
    request: DataOptions,
    measure: str,
    at_least: float | None,
    at_most: float | None,
    change: float | None,
    relative: bool | None,
    limits: dict[str, Any],
    output: Output,
) -> None:
    """Find how far weights may be off for a statement about a score to hold.

    The statement is one of --at-least, --at-most and --change. Up to the first ε it is
    proved to hold; at the second some weights break it. If the statement does not hold for the given weights, the
    exit code is 3.
    """
    from ..errors import InputError
    from ..robustness.radii import radius
    from .guard import fail
    from .request import each, per_group, rehearse

    output.check(request.files)
    if sum(x is not None for x in (at_least, at_most, change)) != 1:
        raise InputError("expected one of --at-least, --at-most and --change, the statement that is to hold.")
    model = o.model_of(relative)

    def ask(table: Table) -> Radius:
        return radius(table, measure, at_least=at_least, at_most=at_most, change=change, model=model, **limits)

    rehearse(ask)
    result = per_group(request.table(), ask)
    output.write(result)
    fail([f"{where}{one.statement} does not hold; {one.problem}." for where, one in each(result) if not one.holds])
