"""`wmcc merge`."""

from __future__ import annotations

from typing import Any

import click

from . import options as o


@o.command()
@click.argument("tables", metavar="TABLE.json...", nargs=-1, required=True)
@o.output()
def command(asked: o.CommandOptions, output: o.Output) -> None:
    """Add up stored tables, exactly.

    The result is, to the last bit, the table of all rows. Tables of groups are added up group by group.

    Examples::

        wmcc tabulate parcels.csv --true label --pred pred --weight area -o monday.json
        wmcc tabulate parcels.csv --true label --pred pred --weight area -o tuesday.json
        wmcc merge monday.json tuesday.json -o week.json
        wmcc score week.json
    """
    from ..errors import WmccError
    from . import standard_input
    from .stored import check_alike, read

    standard_input.check_once(list(asked.tables))
    first, *others = asked.tables
    total: Any = read(first)
    for before, name in enumerate(others, 1):
        more = read(name)
        which = f"{first} and {name}" if before == 1 else f"the {before} files before {name} and {name}"
        try:
            check_alike(total, more)
            total = total + more
        except WmccError as problem:
            raise problem.about(which) from None
    output.write(total)
