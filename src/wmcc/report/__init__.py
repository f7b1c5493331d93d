"""Results for people."""

from .score import ClassScore, Score, score
from .uncertainty import Uncertainty, uncertainty
from .write import write_report

__all__ = ["ClassScore", "Score", "score", "Uncertainty", "uncertainty", "write_report"]
