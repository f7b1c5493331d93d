"""How sure a score is: standard errors, intervals, comparisons, and what the weights leave of the data."""
