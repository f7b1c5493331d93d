"""Maps: their accuracy, the areas of their classes, and how many samples to draw."""
