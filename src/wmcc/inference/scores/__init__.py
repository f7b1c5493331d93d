"""Sampling errors of scores: of all thresholds together, of measures over all thresholds, and of their differences."""
