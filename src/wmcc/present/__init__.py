"""How numbers, labels and tables of results are shown and written, whatever they are of."""
