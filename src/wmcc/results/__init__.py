"""What the functions of wmcc return, and results that join several readers of a table."""

from .._lazy import lazily

__all__, __getattr__, __dir__ = lazily(__name__, f"{__file__.removesuffix('c')}i")
