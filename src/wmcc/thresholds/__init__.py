"""Thresholds of scores: curves over all of them, the best one, and how sure it is."""
