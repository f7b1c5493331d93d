"""The paper's experiments (Section 5), with every parameter open."""

from .separation import Separation, Trace, separation
from .verdicts import Verdict, verdicts

__all__ = ["Separation", "separation", "Trace", "Verdict", "verdicts"]
