"""`wmcc rank`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from . import options as o

if TYPE_CHECKING:
    from ..core.joint import JointTable
    from ..robustness.ranking import Ranking
    from .output import Output
    from .request import DataOptions


@o.command("""
    wmcc rank parcels.csv --true label --pred pred --pred pred_c --weight area
    wmcc rank parcels.csv --true label --pred pred --pred pred_b --pred pred_c --weight area --eps 0.2 --no-radius
""")
@o.data(2, None)
@o.measure
@o.eps
@o.model
@o.bounds
@click.option(
    "--no-radius", is_flag=True, help="Do not search for the ε up to which the leader leads, the slowest part."
)
@o.limits
@o.output
def command(
    request: DataOptions,
    measure: str,
    eps: float | None,
    relative: bool | None,
    bounds: dict[str, str],
    no_radius: bool,
    limits: dict[str, Any],
    output: Output,
) -> None:
    """Certify which classifier wins when weights may be off.

    All classifiers share the same weights. For each pair the range of the difference of their scores is certified, and
    how far weights may be off before the leader may lose its lead. With --lower and --upper each weight lies between
    bounds of its own, and only the range is certified.
    """
    from ..robustness.ranking import certify_ranking
    from .request import per_group, rehearse

    output.check(request.files)
    request.check_bounds(bounds, eps is not None, relative)

    def ask(joint: JointTable, **sides: Any) -> Ranking:
        found = certify_ranking(joint, measure, eps=eps, model=o.model_of(relative), **sides, **limits)
        return found if no_radius or sides else found.with_radii()

    rehearse(lambda joint: certify_ranking(joint, measure, eps=eps, model=o.model_of(relative), **limits), ("a", "b"))
    output.write(per_group(request.joint(), ask, beside=request.bounds(bounds)))
