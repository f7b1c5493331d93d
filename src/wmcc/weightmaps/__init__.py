"""Weights of pixels, from the truth of an image: gaps between objects, distances to classes, boundaries, sizes.

Each function takes a label map, a NumPy array or a torch tensor on any device, and returns a float32 weight for each
pixel, of the same kind. Use them as ``sample_weight`` of `wmcc.tabulate`, as ``weight`` of a loss, or by name on the
command line.

Weights come from the truth and never from the prediction: a model could otherwise choose what it is judged by, and two
models would be judged by different weights.

Examples
--------
>>> import numpy as np
>>> import wmcc
>>> truth = np.array([[0, 1, 1, 0, 1, 1, 0, 0]])
>>> pred = np.array([[0, 1, 1, 1, 1, 1, 0, 0]])
>>> table = wmcc.tabulate(truth, pred, wmcc.weightmaps.border(truth, sigma=2))
>>> round(wmcc.mcc(truth, pred), 3), round(wmcc.mcc(table), 3)
(0.775, 0.521)
"""

from ._functions import border, boundary_band, boundary_iou_band, distance, instance_size, mask
from ._names import named

__all__ = ["border", "boundary_band", "boundary_iou_band", "distance", "instance_size", "mask", "named"]
