"""Pictures of tables and results, with matplotlib (``pip install 'wmcc[plot]'``).

Each function draws what other parts of wmcc computed, into ``ax`` if it is given, and returns the axes.
"""

from .classes import classes
from .confusion import confusion
from .forest import forest
from .funnel import funnel
from .influence import influence
from .separation import separation
from .weights import weights

__all__ = ["classes", "confusion", "forest", "funnel", "influence", "separation", "weights"]
