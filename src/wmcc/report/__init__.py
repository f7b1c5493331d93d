"""The report: a page about one classifier or several."""
