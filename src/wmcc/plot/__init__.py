"""Pictures of tables and results, with matplotlib (``pip install 'wmcc[plot]'``).

Each function draws what other parts of wmcc computed, into ``ax`` if it is given, and returns the axes.
"""

from .separation import separation

__all__ = ["separation"]
