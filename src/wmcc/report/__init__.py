"""Results for people."""

from .score import ClassScore, Score, score

__all__ = ["ClassScore", "Score", "score"]
