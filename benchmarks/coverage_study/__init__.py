"""How often intervals hold the true score, and how often comparisons err: docs/understand/coverage.md.

``scripts/coverage`` sets up what it needs, simulates everything and writes the page.
"""
