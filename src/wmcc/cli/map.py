"""`wmcc map`."""

from __future__ import annotations

from . import options as o


@o.command()
@o.data(units=True)
@o.options("pixel_area", "confidence")
@o.output()
def command(request: o.DataOptions, asked: o.CommandOptions, output: o.Output) -> None:
    """Estimate the accuracy of a map and the areas of its classes.

    --true is the column of reference labels, --pred that of the map. Shows overall, user's and producer's accuracy, the
    area of each class by the reference labels, quantity and allocation disagreement, ECC, MPC1, MPC2 and kappa, all
    with standard errors and intervals; and the error matrix with the map in rows, as sampled rows and as shares of the
    area. For a stratified sample give --stratum and --population.

    Examples::

        wmcc map parcels.csv --true label --pred pred --weight area --unit ha
        wmcc map parcels.csv --true label --pred pred --weight area --by region --unit ha
        wmcc map parcels.csv --true label --pred pred --weight area --unit ha -o map.tex
        wmcc tabulate parcels.csv --true label --pred pred -o table.json
        wmcc map table.json --pixel-area 0.09 --unit ha
    """
    from ..mapping.accuracy import checked_area, map_accuracy
    from .request import per_group

    checked_area(asked.pixel_area, request.unit)
    how = {"pixel_area": asked.pixel_area, "confidence_level": asked.confidence}
    unit = request.shown_unit
    output.write(per_group(request.table(), lambda table: map_accuracy(table, unit=unit, **how)))
