"""What the weights leave of the data."""

from .diagnostics import effective_sample_size

__all__ = ["effective_sample_size"]
