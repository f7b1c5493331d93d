"""`wmcc map`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import options as o

if TYPE_CHECKING:
    from ..core.table import Table
    from ..mapping.accuracy import MapAccuracy
    from .output import Output
    from .request import DataOptions


@o.command("""
    wmcc map parcels.csv --true label --pred pred --weight area --unit ha
    wmcc map parcels.csv --true label --pred pred --weight area --by region --unit ha
    wmcc map parcels.csv --true label --pred pred --weight area --unit ha -o map.tex
    wmcc tabulate parcels.csv --true label --pred pred -o table.json
    wmcc map table.json --pixel-area 0.09 --unit ha
""")
@o.data(units=True)
@o.pixel_area
@o.confidence
@o.output
def command(request: DataOptions, pixel_area: float, confidence: float, output: Output) -> None:
    """Estimate the accuracy of a map and the areas of its classes.

    --true is the column of reference labels, --pred that of the map. Shows overall, user's and producer's accuracy, the
    area of each class by the reference labels, quantity and allocation disagreement, ECC, MPC1, MPC2 and kappa, all
    with standard errors and intervals; and the error matrix with the map in rows, as sampled rows and as shares of the
    area. For a stratified sample give --stratum and --population.
    """
    from ..mapping.accuracy import map_accuracy
    from .request import per_group, rehearse
    from .startup import load_student

    output.check(request.files)
    load_student()

    def ask(table: Table) -> MapAccuracy:
        return map_accuracy(table, pixel_area=pixel_area, unit=request.shown_unit, confidence_level=confidence)

    rehearse(ask)
    output.write(per_group(request.table(), ask))
