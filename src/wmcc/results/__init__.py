"""Results that join several readers of a table: all scores at once; both kinds of uncertainty side by side."""
