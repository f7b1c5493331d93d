"""The exact core: labels, sums, cells, and the tables that everything else reads."""
