"""`wmcc certify`."""

from __future__ import annotations

from typing import Any

from . import options as o


@o.command()
@o.data()
@o.options("measure")
@o.option("eps", "How far each weight may be off; repeat it for a curve.  [default: 0.1]", multiple=True)
@o.options("relative", "lower", "upper", "fixed", "cap", "gap", "nodes", "seconds")
@o.output()
def command(request: o.DataOptions, asked: o.CommandOptions, output: o.Output) -> None:
    """Certify the range of a measure when weights may be off.

    Each weight may be off on its own, by --eps or between --lower and --upper. An end of the range is
    either reached by some weights, or a proved bound with the gap to a value that is reached. With --cap the range is
    that of the score with large weights cut to the cap. With --missing keep weights are as they are, and the range is
    that over all classes that missing labels may be.

    Examples::

        wmcc certify parcels.csv --true label --pred pred --weight area --eps 0.05 --eps 0.2
        wmcc certify parcels.csv --true label --pred pred --weight area --by region
        wmcc certify parcels.csv --true label --pred pred --weight area --eps 0.2 --fixed total
        wmcc certify parcels.csv --true label --pred pred --weight area --measure kappa --eps 0.05 --absolute
        wmcc certify parcels.csv --true label --pred pred --weight area --cap 100 --cap 20
        wmcc tabulate parcels.csv --true label --pred pred --weight area -o table.json
        wmcc certify table.json --format json
    """
    from ..core.labels import MISSING
    from ..errors import InputError
    from ..robustness.certify import certify
    from .request import per_group

    request.check_bounds(asked.bounds, asked.eps, asked.relative)
    eps, cap, limits = asked.eps, asked.cap, asked.limits
    others = [*["--eps"] * bool(eps), *(f"--{side}" for side in asked.bounds)]
    others += ["--relative or --absolute"] * (asked.relative is not None) + ["--fixed"] * (asked.fixed is not None)
    if cap and others:
        raise InputError(
            f"--cap cannot be given with {others[0]}: it takes all other weights as exact.", argument="cap"
        )

    def ask(table: Any, **sides: Any) -> Any:
        if MISSING in table.classes or request.missing == "keep":
            odd = "--cap" if cap else next(iter(others), None)
            if odd is not None:
                raise InputError(f"{odd} cannot be given for missing labels: weights are taken as they are.")
            return certify(table, asked.measure, model="missing", **limits)
        if cap:
            from ..robustness.trimming import certify_trimming

            return certify_trimming(table, asked.measure, caps=cap, **limits)
        if sides:
            return certify(table, asked.measure, fixed=asked.fixed, **sides, **limits)
        one = eps[0] if eps else None
        return certify(
            table, asked.measure, eps=eps if len(eps) > 1 else one, model=asked.model, fixed=asked.fixed, **limits
        )

    found = request.table()
    output.write(per_group(found, ask, beside=request.bounds(asked.bounds)))
