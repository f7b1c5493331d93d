"""`wmcc example`."""

from __future__ import annotations

from . import options as o

ROWS, COLUMNS, PIXEL = 120, 160, 30


@o.command(sample=False)
@o.out(".csv .asc")
@o.options("traceback")
def command(out: str | None) -> None:
    """Write the data of the examples: a sample of parcels, or a map of land cover.

    360 parcels with their true class, the predictions of three classifiers, their area in hectares and region, and how
    probable two models find it that a parcel is forest. Or, for the ending .asc, a raster of three classes with pixels
    of 30 m, in EPSG:32632.

    Examples::

        wmcc example
        wmcc example -o parcels.csv
        wmcc example -o map.asc
    """
    from importlib.resources import files

    from .output import Output

    output = Output.of(None, out, {"csv": ".csv"}, [".csv", ".asc"])
    output.check()
    if output.form == ".asc":
        output.emit(_map())
    else:
        output.emit((files("wmcc") / "data" / "parcels.csv").read_text(encoding="utf-8"))


def _map() -> str:
    """Return a grid of fields (1) and forest (2) in patches, and a river (3) through them, as text."""
    head = f"ncols {COLUMNS}\nnrows {ROWS}\nxllcorner 500000\nyllcorner 5540000\ncellsize {PIXEL}\nNODATA_value 0\n"
    lines = []
    for row in range(ROWS):
        bank = COLUMNS // 3 + row // 2 + (row // 10) % 3
        patches = [
            1 + ((row // 12) * 7 + (column // 16) * 5 + row // 12 * (column // 16)) % 3 // 2
            for column in range(COLUMNS)
        ]
        patches[bank : bank + 5] = [3] * 5
        lines.append(" ".join(map(str, patches)))
    return head + "\n".join(lines) + "\n"
