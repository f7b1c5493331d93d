"""Results for people."""

from .score import ClassScore, Score, score
from .uncertainty import Uncertainty, uncertainty

__all__ = ["ClassScore", "Score", "score", "Uncertainty", "uncertainty"]
