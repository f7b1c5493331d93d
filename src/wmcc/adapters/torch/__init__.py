"""wmcc for PyTorch: exact tables of predictions that stay on their device, and a training loss.

Nothing here is imported by ``import wmcc``.
"""

from ... import optional

optional.module("torch")

from .loss import CorrelationLoss, correlation_loss  # noqa: E402
from .tally import Tally  # noqa: E402

__all__ = ["correlation_loss", "CorrelationLoss", "Tally"]
