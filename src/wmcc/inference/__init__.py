"""How sure a score is: standard errors, intervals, comparisons, and what the weights leave of the data."""

from .compare import compare
from .comparison import Comparison, Comparisons
from .diagnostics import Diagnosis, diagnose, effective_sample_size
from .interval import Interval, interval

__all__ = [
    "compare",
    "Comparison",
    "Comparisons",
    "diagnose",
    "Diagnosis",
    "effective_sample_size",
    "Interval",
    "interval",
]
