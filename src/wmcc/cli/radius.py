"""`wmcc radius`."""

from __future__ import annotations

from typing import Any

from . import options as o


@o.command()
@o.data()
@o.options("measure", "at_least", "at_most", "change", "relative")
@o.limits
@o.output
def command(
    request: o.DataOptions, measure: str, relative: bool | None, limits: dict[str, Any], output: o.Output, **goal: Any
) -> None:
    """Find how far weights may be off for a statement about a score to hold.

    The statement is one of --at-least, --at-most and --change. Up to the first ε it is
    proved to hold; at the second some weights break it. If the statement does not hold for the given weights, the
    exit code is 3.

    Examples::

        wmcc radius parcels.csv --true label --pred pred --weight area --at-least 0.85
        wmcc radius parcels.csv --true label --pred pred --weight area --measure accuracy --change 0.01
        wmcc tabulate parcels.csv --true label --pred pred --weight area -o table.json
        wmcc radius table.json --change 0.05 --absolute
    """
    from ..errors import InputError
    from ..robustness.radii import radius
    from .guard import fail
    from .request import each, per_group

    output.check(request.files)
    if sum(x is not None for x in goal.values()) != 1:
        raise InputError("expected one of --at-least, --at-most and --change, the statement that is to hold.")
    o.check(measure, limits=limits)
    asked: dict[str, Any] = {**goal, "model": o.model_of(relative), **limits}
    result = per_group(request.table(), lambda table: radius(table, measure, **asked))
    output.write(result)
    fail([f"{where}{one.statement} does not hold; {one.problem}." for where, one in each(result) if not one.holds])
