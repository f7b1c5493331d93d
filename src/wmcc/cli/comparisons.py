"""What `compare` asks of the library: all it says of a pair of predictions is said of one joint table, read once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from ..core.joint import JointTable
from ..errors import UndefinedMeasureError
from ..inference.compare import checked_margin, compare
from ..inference.comparison import Comparison, Comparisons
from ..inference.interval import checked_level
from ..robustness.ranking import Ranking, certify_ranking
from ..sources.predictions import predictions
from . import robust
from .reading import Request

Pair = tuple[str, str]


@dataclass(frozen=True)
class Asked:
    """A measure, how sure to be, and how weights may be off, if they may; checked before data are read."""

    measure: str
    level: float
    margin: float | None
    off: robust.Asked | None

    def __post_init__(self) -> None:
        checked_level(self.level)
        checked_margin(self.margin)


class Compared(NamedTuple):
    """Comparisons of all pairs, of two classifiers as well; and the ranges of their differences, if asked.

    A range is None where the measure is undefined, which the comparison says.
    """

    asked: Asked
    found: Comparisons
    ranges: dict[Pair, Ranking | None]


def compared(request: Request, preds: list[str], asked: Asked) -> Compared:
    """Compare each pair of predictions, on the same rows."""
    data, options = request.opened(preds)
    options |= {} if request.cluster is None else {"cluster": request.cluster}
    several = predictions(data, request.true, preds, None, request.weight, options, None)
    pairs: dict[Pair, Comparison] = {}
    ranges: dict[Pair, Ranking | None] = {}
    for (i, j), joint in several.joints().items():
        names = several.names[i], several.names[j]
        how: dict[str, Any] = {"measure": asked.measure, "confidence_level": asked.level, "margin": asked.margin}
        pairs[names] = compare(joint, **how, names=names)
        if asked.off is not None:
            ranges[names] = _range(joint, names, asked.off)
    return Compared(asked, Comparisons(several.names, pairs), ranges)


def _range(joint: JointTable, names: Pair, off: robust.Asked) -> Ranking | None:
    try:
        ranking: Ranking = certify_ranking(joint, off.measure, off.eps[0], off.model, names=names)
    except UndefinedMeasureError:
        return None
    return ranking
