"""`wmcc radius`."""

from __future__ import annotations

from typing import Any

from . import options as o

GOALS = ("at_least", "at_most", "change")
"""What the statement may be; it is one of them."""


@o.command()
@o.data()
@o.options("measure", *GOALS, "relative", "gap", "nodes", "seconds")
@o.output()
def command(request: o.DataOptions, asked: o.CommandOptions, output: o.Output) -> None:
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

    goal = asked.chosen(*GOALS)
    if len(goal) != 1:
        raise InputError("expected one of --at-least, --at-most and --change, the statement that is to hold.")
    how: dict[str, Any] = {**goal, "model": asked.model, **asked.limits}
    result = per_group(request.table(), lambda table: radius(table, asked.measure, **how))
    output.write(result)
    fail([f"{where}{one.statement} does not hold; {one.problem}." for where, one in each(result) if not one.holds])
