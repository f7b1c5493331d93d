"""`wmcc show`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import options as o

if TYPE_CHECKING:
    from .output import Output


@o.command("""
    wmcc tabulate parcels.csv --true label --pred pred --weight area -o table.json
    wmcc show table.json
    wmcc show table.json --format markdown
""")
@o.one_stored
@o.output
def command(table: str, output: Output) -> None:
    """Show a stored table."""
    from .stored import read

    output.check()
    output.write(read(table))
