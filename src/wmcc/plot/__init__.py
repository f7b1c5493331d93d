"""Pictures of tables and results, with matplotlib (``pip install 'wmcc[plot]'``).

Each function draws what other parts of wmcc computed, into ``ax`` if it is given, and returns the axes.
"""

from ._areas import areas
from ._classes import classes
from ._confusion import confusion
from ._forest import forest
from ._funnel import funnel
from ._influence import influence
from ._map import map  # noqa: A004
from ._scores import curve, mcc_f1, precision_recall, roc
from ._separation import separation
from ._weights import shares, weights

__all__ = [
    "areas", "classes", "confusion", "curve", "forest", "funnel", "influence", "map", "mcc_f1", "precision_recall",
    "roc", "separation", "shares", "weights",
]  # fmt: skip
