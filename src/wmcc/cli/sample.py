"""`wmcc sample`."""

from __future__ import annotations

from . import options as o


@o.command(sample=False)
@o.out(".csv")
@o.options("traceback")
def command(out: str | None) -> None:
    """Write the sample data of the examples.

    360 parcels of a map with their true class, the predictions of three classifiers, their area in hectares and region,
    and how probable two models find it that a parcel is forest.

    Examples::

        wmcc sample
        wmcc sample -o parcels.csv
    """
    from importlib.resources import files

    from .output import Output

    output = Output.of(None, out, {"csv": ".csv"}, [".csv"])
    output.check()
    output.emit((files("wmcc") / "data" / "parcels.csv").read_text(encoding="utf-8"))
