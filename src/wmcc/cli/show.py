"""`wmcc show`."""

from __future__ import annotations

import click

from . import options as o


@o.command()
@click.argument("table", metavar="TABLE.json")
@o.output()
def command(asked: o.CommandOptions, output: o.Output) -> None:
    """Show a stored table.

    Examples::

        wmcc tabulate parcels.csv --true label --pred pred --weight area -o table.json
        wmcc show table.json
        wmcc show table.json --format markdown
    """
    from .stored import read

    output.write(read(asked.table))
