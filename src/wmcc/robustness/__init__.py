"""How far a measure moves when the weights move: ranges that are true, and where they are reached."""

from .certificate import Certificate, Curve, End
from .certify import certify
from .radius import Radius, radius
from .ranking import Ranking, Rankings, certify_ranking
from .sensitivity import Sensitivity, sensitivity

__all__ = [
    "Certificate",
    "Curve",
    "End",
    "Radius",
    "Ranking",
    "Rankings",
    "Sensitivity",
    "certify",
    "certify_ranking",
    "radius",
    "sensitivity",
]
