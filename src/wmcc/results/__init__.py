"""What the functions of wmcc return, and results that join several readers of a table."""

from .. import _lazily

__all__, __getattr__, __dir__ = _lazily(__name__, f"{__file__.removesuffix('c')}i")
