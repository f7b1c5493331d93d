"""`wmcc rank`."""

from __future__ import annotations

from typing import Any

from . import options as o


@o.command()
@o.data(2, None)
@o.options("measure", "eps", "relative", "lower", "upper", "no_radius", "gap", "nodes", "seconds")
@o.output()
def command(request: o.DataOptions, asked: o.CommandOptions, output: o.Output) -> None:
    """Certify which classifier wins when weights may be off.

    All classifiers share the same weights. For each pair the range of the difference of their scores is certified, and
    how far weights may be off before the leader may lose its lead. With --lower and --upper each weight lies between
    bounds of its own, and only the range is certified.

    Examples::

        wmcc rank parcels.csv --true label --pred pred --pred pred_c --weight area
        wmcc rank parcels.csv --true label --pred pred --pred pred_b --pred pred_c --weight area --eps 0.2 --no-radius
    """
    from ..robustness.ranking import certify_ranking
    from .request import per_group

    request.check_bounds(asked.bounds, asked.eps, asked.relative)
    eps, model = asked.eps, asked.model

    def ask(joint: Any, **sides: Any) -> Any:
        found = certify_ranking(joint, asked.measure, eps=eps, model=model, **sides, **asked.limits)
        return found if asked.no_radius or sides else found.with_radii()

    output.write(per_group(request.joint(), ask, beside=request.bounds(asked.bounds)))
