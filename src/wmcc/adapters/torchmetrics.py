"""wmcc for TorchMetrics and Lightning: metrics in which each pixel counts by its weight.

The state of a metric is an exact table, that of `wmcc.adapters.torch.Tally`. Tables of batches and of processes are
added up, so the score is that of all pixels together. The metrics of one ``MetricCollection`` share one table.

Examples
--------
>>> import torch
>>> from torchmetrics import MetricCollection
>>> from wmcc.adapters.torchmetrics import WeightedECC, WeightedMeanIoU
>>> scores = MetricCollection([WeightedECC("multiclass", 3), WeightedMeanIoU("multiclass", 3)])
>>> target, preds = torch.tensor([0, 1, 2, 2]), torch.tensor([0, 1, 2, 1])
>>> scores.update(preds, target, weight=torch.tensor([1.0, 1.0, 4.0, 0.5]))
>>> {name: round(value.item(), 4) for name, value in scores.compute().items()}
{'WeightedECC': 0.8626, 'WeightedMeanIoU': 0.8519}
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from decimal import Context, Decimal, localcontext
from functools import cache
from hashlib import blake2b
from inspect import signature
from typing import Any, ClassVar, Literal, TypedDict, TypeVar, Unpack

import numpy as np

from .. import optional
from ..core.arraytypes import FloatArray
from ..core.labels import Label
from ..core.planes import NAN_LOGIT, WIDE, Planes, settle
from ..core.score_table import ScoreTable
from ..core.table import Table
from ..errors import InputError, InputTypeError, unknown_keyword, warn
from ..measures import accuracy, balanced_accuracy, ecc, kappa, mcc, mean_f1, mean_iou, mean_recall, mpc1, mpc2
from ..measures.base import Measure, ZeroDivision, on_zero
from ..measures.checks import named_class_measure
from ..plot import confusion
from .torch.batches import check_same_device, columns_of, has_pixels, rows_of
from .torch.counting import count, scratch_on
from .torch.steps import Bins, ScoreSteps, checked_bins
from .torch.tally import STATE, Tally, alike, earliest, wide

torch = optional.module("torch")
torchmetrics = optional.module("torchmetrics")

Task = Literal["binary", "multiclass"]
Read = TypeVar("Read")


class MetricOptions(TypedDict, total=False):
    """What every metric of TorchMetrics takes beside its own arguments; ``torchmetrics.Metric`` explains them."""

    dist_sync_on_step: bool
    process_group: Any
    dist_sync_fn: Callable[..., Any] | None
    distributed_available_fn: Callable[[], bool] | None
    sync_on_compute: bool
    compute_with_cache: bool


class TableOptions(MetricOptions, total=False):
    """What every metric of this module takes beside its task; `TableMetric` explains it."""

    threshold: float
    ignore_index: int | None
    names: Sequence[Label] | Mapping[int, Label] | None
    bins: int | Iterable[float] | None


class TableMetric(torchmetrics.Metric):  # type: ignore[name-defined]
    """A metric whose state is a weighted confusion table: what all metrics of this module have in common.

    Parameters
    ----------
    task
        ``"binary"``: a label, a probability or a logit for each pixel, in the shape of the target. ``"multiclass"``: a
        class for each pixel, or a probability or logit for each class and pixel, with the classes on axis 1.
    num_classes
        Number of classes; it is 2 for a binary task.
    threshold
        Of a binary task: a pixel is of class 1 where its probability is above the threshold. If a score of the batch is
        outside of [0, 1], all are taken for logits. With ``bins`` it is the thresholds that say what scores are.
    ignore_index
        Pixels with this label in the target do not count. A prediction of it is wrong. It may be one of the classes.
    names
        Names of the classes, for `table`: a list, or a mapping from labels.
    bins
        Of a binary task: thresholds for scores as they are, for which `scores` has a score table; a number n stands for
        0, 1/n, 2/n … 1. If all are within [0, 1], scores are probabilities, and those outside are refused. Else they
        are logits. What a metric computes is the same with bins and without: ``threshold`` need not be one of them.
    **options
        The keywords of ``torchmetrics.Metric``.
    """

    is_differentiable: ClassVar[bool] = False
    higher_is_better: ClassVar[bool] = True
    full_state_update: ClassVar[bool] = False
    digits: Any
    pixels: Any
    _update_count: int
    _is_synced: bool

    def __init__(
        self,
        task: Task,
        num_classes: int | None = None,
        *,
        threshold: float = 0.5,
        ignore_index: int | None = None,
        names: Sequence[Label] | Mapping[int, Label] | None = None,
        bins: int | Iterable[float] | None = None,
        **options: Unpack[MetricOptions],
    ) -> None:
        known = [x for x in {**signature(type(self)).parameters, **TableOptions.__annotations__} if x != "options"]
        for name in options:
            if name not in known:
                raise unknown_keyword(type(self).__name__, name, known)
        super().__init__(**options)
        self.task, self.threshold = task, _checked_threshold(threshold)
        empty = Tally(_class_count(task, num_classes), ignore_index=ignore_index, names=names)
        self.num_classes, self.ignore_index, self.names = empty.num_classes, empty.ignore_index, empty.names
        self.bins, self._steps, self._cuts = checked_bins(bins), None, None
        if self.bins is not None:
            self._steps, self._above_threshold = _score_steps(task, self.bins, self.threshold, self.ignore_index)
            empty._start(self._steps)
        self._counted_as = empty._counted_as
        self._counted = [k for k in range(self.num_classes) if k != self.ignore_index]  # in the order of the table
        self.add_state("settings", self._settings(), _agreed)
        for name, reduction in zip(STATE, ("sum", "min", "max", "sum", earliest, "sum"), strict=True):
            self.add_state(name, getattr(empty, name), reduction)
        self.add_state("pixels", torch.zeros((), dtype=torch.int64), "max")
        self._scratch = scratch_on(self.digits.device)
        self._columns = 1

    def _settings(self) -> Any:
        """What the meaning of the state depends on: metrics that differ in it never share a state.

        A ``MetricCollection`` compares states after the first batch, and with a tolerance; single bytes are far enough
        apart.
        """
        binary, ignore = self.task == "binary", self.ignore_index
        kind = self.num_classes  # which is 2 with bins, and these are told in its place
        if self._steps is not None:
            kind = int.from_bytes(blake2b(repr(self._steps).encode(), digest_size=8).digest(), "little", signed=True)
        own = (kind, ignore is not None, ignore or 0, binary, self.threshold if binary else 0.0)
        return torch.tensor(list(struct.pack("<q?q?d", *own)), dtype=torch.int64)

    # ---- writing ----------------------------------------------------------------------------------------

    def update(
        self,
        preds: Any,
        target: Any,
        weight: Any = None,
        *,
        sample_weight: None = None,
        sample_weights: None = None,
        weights: None = None,
    ) -> None:
        """Add a batch. Bad labels and weights are noted, and refused by `compute`; nothing waits for a GPU.

        Parameters
        ----------
        preds, target
            Predictions and true labels, as the task has them.
        weight
            A weight for each pixel; or what fits, as in `wmcc.adapters.torch.Tally`. Without weights each pixel
            counts 1.
        sample_weight, sample_weights, weights
            Refused: the name is ``weight``. They are named because a ``MetricCollection`` leaves out, and does not tell
            of, keywords that an ``update`` does not name.
        """
        others = {"sample_weight": sample_weight, "sample_weights": sample_weights, "weights": weights}
        for name in (name for name, given in others.items() if given is not None):
            raise InputTypeError(
                f"the weights were given as `{name}`; a metric takes them as `weight`.", "give `weight`.", name
            )
        if self._steps is not None:
            self._cuts = self._steps.cuts(self.digits.device, self._cuts)
            preds = self._steps.steps(preds, target, self._cuts)
        elif self.task == "binary":
            preds = self._above(preds, target)
        rows = rows_of(preds, target, weight, self.num_classes)
        self._columns = columns_of(preds, rows.target)
        if self._steps is not None:
            rows = self._steps.folded(rows)
        if has_pixels(rows.target):
            self.pixels = torch.ones_like(self.pixels)
        if rows.weight is not None and rows.weight.dtype is torch.float64:
            self.digits = wide(self.digits)
        self._scratch = scratch_on(self.digits.device, self._scratch)
        *state, updates = (self._changeable(name) for name in STATE)
        count(Planes(*state), updates, self._scratch, rows, *self._counted_as)

    def _changeable(self, name: str) -> Any:
        """Return a tensor of the state; one that was made in ``torch.inference_mode`` is copied when that is over."""
        own = getattr(self, name)
        if own.is_inference() and not torch.is_inference_mode_enabled():
            setattr(self, name, own.clone())
        return getattr(self, name)

    def _above(self, preds: Any, target: Any) -> Any:
        """Return labels of a binary task: those given, or 1 where the probability is above the threshold."""
        tensors = isinstance(preds, torch.Tensor) and isinstance(target, torch.Tensor)
        if not tensors or not preds.is_floating_point():
            return preds
        if preds.numel() != target.numel():
            raise InputError(
                f"`preds` has shape {tuple(preds.shape)} and `target` {tuple(target.shape)}; a binary task has one "
                "score for each pixel.",
                'make the metric with `task` "multiclass" and `num_classes` 2 if axis 1 of preds counts two classes.',
                "preds",
            )
        check_same_device("preds", preds, target)
        scores = preds.detach()
        if scores.itemsize == 1:  # float8 knows no comparisons
            scores = scores.float()
        outside = (scores < 0) | (scores > 1)
        if self.ignore_index is not None:
            outside &= (target != self.ignore_index).reshape(outside.shape)
        # as in TorchMetrics, without waiting for the device; and without a sigmoid, which would be rounded
        chance, logit = (scores.new_full((), x) for x in cutoffs(self.threshold, scores.dtype))
        above = scores > torch.where(outside.any(), logit, chance)
        return above.long().masked_fill_(scores.isnan(), NAN_LOGIT)

    @torch.jit.unused
    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Add a batch, and return the value of this batch alone.

        A batch that is refused is not added, and what was added before is kept.
        """
        kept = self._copy_state_dict() if self.dist_sync_on_step else self.metric_state
        count, synced = self._update_count, self._is_synced
        try:
            return super().forward(*args, **kwargs)
        except BaseException:
            for name, value in kept.items():
                setattr(self, name, value)
            self._update_count, self._is_synced, self._computed = count, synced, None
            self._should_unsync, self._to_sync, self._enable_grad = True, self.sync_on_compute, False
            raise

    # ---- adding up --------------------------------------------------------------------------------------

    def _reduce_states(self, incoming_state: dict[str, Any]) -> None:
        """Add another state."""
        missing = [name for name in self._defaults if name not in incoming_state]
        if missing:
            raise InputError(
                f"the state to be added has no {missing[0]!r}.", "give metric.metric_state of another metric."
            )
        device = self.digits.device
        theirs = {name: incoming_state[name].to(device, copy=name == "digits") for name in self._defaults}
        _agreed(torch.stack([self.settings, theirs["settings"]]))
        self.digits, theirs["digits"] = alike(self._changeable("digits"), theirs["digits"])
        super()._reduce_states(theirs)

    def merge_state(self, incoming_state: Any) -> None:
        """Add the state of another metric of the same settings, or a dict of its state."""
        if incoming_state is self:
            raise InputError("a metric cannot be merged with itself: its pixels would count twice.", None)
        super().merge_state(incoming_state)
        self._computed, self._update_count = None, int(self.updates)

    def _sync_dist(self, dist_sync_fn: Any = None, process_group: Any = None) -> None:
        """Add up the states of all processes, in the width that the widest of them needs."""
        gather = dist_sync_fn or torchmetrics.utilities.distributed.gather_all_tensors
        planes = torch.tensor(len(self.digits), device=self.digits.device)
        if max(map(int, gather(planes, group=process_group or self.process_group))) == WIDE.planes:
            self.digits = wide(self.digits)
        settle(self._changeable("digits"))
        super()._sync_dist(gather, process_group)

    @contextmanager
    def sync_context(self, *args: Any, **kwargs: Any) -> Generator[None, None, None]:
        """Hold the state of all processes, and then again that of this one, also after an error."""
        try:
            with super().sync_context(*args, **kwargs):
                yield
        except BaseException:
            if self._is_synced:
                self.unsync()
            raise

    # ---- reading ----------------------------------------------------------------------------------------

    def table(self) -> Table:
        """Return the table of all pixels so far, of all processes: for intervals, certificates and reports.

        All processes must call it, as `compute`. Rows of this table are pixels, and those of one image are alike:
        intervals are too short, and warn of it. For intervals that allow for it use ``Tally(per_image=True)``.

        Examples
        --------
        >>> import torch, wmcc
        >>> from wmcc.adapters.torchmetrics import WeightedECC
        >>> metric = WeightedECC("binary", names=["road", "car"])
        >>> metric.update(torch.tensor([0.9, 0.2, 0.4]), torch.tensor([1, 0, 1]))
        >>> metric.table().classes
        ('road', 'car')
        >>> wmcc.ecc(metric.table()) == metric.compute().item()
        True
        """
        return self._of_all(self._table)

    def scores(self) -> ScoreTable:
        """Return the score table of all pixels so far, of all processes, of a metric with ``bins``.

        All processes must call it, as `compute`. Here a score is positive where it is at least a threshold, as
        everywhere in wmcc; in `compute` and `table` where it is above the ``threshold`` of the metric, as in
        TorchMetrics.

        Examples
        --------
        >>> import torch, wmcc
        >>> from wmcc.adapters.torchmetrics import WeightedMCC
        >>> metric = WeightedMCC("binary", bins=100)
        >>> metric.update(torch.tensor([0.9, 0.2, 0.4, 0.5]), torch.tensor([1, 0, 1, 0]))
        >>> round(metric.compute().item(), 4), round(wmcc.mcc(metric.scores().at(0.4)), 4)
        (0.5774, 0.5774)
        """
        if self.bins is None:
            raise InputTypeError("this metric has no scores.", 'make it with `task` "binary" and `bins`, such as 100.')
        edges = ScoreSteps.of_bins(self.bins, None).edges
        return self._of_all(lambda: self._tally().scores.binned(edges))

    def _of_all(self, read: Callable[[], Read]) -> Read:
        """Return what is read of the state of all processes."""
        apart = not self._is_synced
        with self.sync_context(
            dist_sync_fn=self.dist_sync_fn, should_sync=self._to_sync and apart, should_unsync=apart
        ):
            return read()

    def _table(self) -> Table:
        """Return the table of the state as it is; it warns as that of a tally does."""
        tally = self._tally()
        table: Table = tally.compute() if self._steps is None else tally.scores.at(self._above_threshold)
        return table

    def _tally(self) -> Tally:
        """Return a tally of the state as it is."""
        tally = Tally(self.num_classes, ignore_index=self.ignore_index, names=self.names)
        tally._start(self._steps)
        for name in STATE:
            setattr(tally, name, getattr(self, name))
        tally._pixels = bool(self.pixels)
        tally._columns = self._columns
        return tally

    def _tensor(self, value: float | FloatArray) -> Any:
        """Return the value on the metric's device, in float64 where the device has it."""
        narrow = self.device.type == "mps"
        return torch.as_tensor(value, dtype=torch.float32 if narrow else torch.float64, device=self.device)

    def plot(self, val: Any = None, ax: Any = None) -> tuple[Any, Any]:
        """Draw a value, or a list of values over time, as metrics of TorchMetrics do; returns figure and axes."""
        figure, axes = self._plot(val, ax)
        return figure, axes

    # ---- moving and storing -----------------------------------------------------------------------------

    def set_dtype(self, dst_type: Any) -> TableMetric:
        """Change nothing: the state is of integers, and the value of float64."""
        return self

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *more: Any) -> None:
        stored = state_dict.get(prefix + "settings")
        missing = [name for name in self._defaults if prefix + name not in state_dict]
        if 0 < len(missing) < len(self._defaults):
            more[-1].append(f"{prefix + missing[0]} is missing, without which the rest of the table means nothing.")
            return
        if stored is not None and stored.tolist() != self.settings.tolist():
            name = prefix.rstrip(".") or "the metric"
            more[-1].append(
                f"{name} was stored with another `task`, `num_classes`, `threshold`, `ignore_index` or `bins`."
            )
            return
        super()._load_from_state_dict(state_dict, prefix, *more)
        if stored is not None:
            for name in self._defaults:  # what was loaded is the caller's, and may be on another device
                setattr(self, name, getattr(self, name).to(self.device, copy=True))
            self._computed, self._update_count = None, int(self.updates)


def _agreed(settings: Any) -> Any:
    """Return the settings that several states have in common."""
    if not bool((settings == settings[0]).all()):
        raise InputError(
            "these metrics differ in `task`, `num_classes`, `threshold`, `ignore_index` or `bins`, so their tables "
            "cannot be added up.",
            "make them with the same arguments.",
        )
    return settings[0]


def _class_count(task: Any, num_classes: Any) -> Any:
    """Return the number of classes of a task."""
    if task == "binary":
        if num_classes not in (None, 2):
            raise InputError(
                f"`num_classes` is {num_classes!r}; a binary task has 2.",
                f'make the metric with `task` "multiclass" for {num_classes!r} classes.',
                "num_classes",
            )
        return 2
    if task != "multiclass":
        hint = "make a metric with `task` 'binary' for each label." if task == "multilabel" else None
        raise InputError.of("task", task, "'binary' or 'multiclass'", hint)
    if num_classes is None:
        raise InputTypeError("a multiclass task needs `num_classes`.", "for instance 19.", "num_classes")
    return num_classes


@cache
def cutoffs(threshold: float, dtype: Any) -> tuple[float, float]:
    """Return the largest numbers of a type that are not above a threshold, as a probability and as a logit.

    A score of this type is above the threshold if, and only if, it is larger than the number: nothing is rounded.

    Examples
    --------
    >>> import torch
    >>> from wmcc.adapters.torchmetrics import cutoffs
    >>> cutoffs(0.5, torch.float16)
    (0.5, 0.0)
    >>> cutoffs(0.3, torch.bfloat16)  # the next numbers are 0.30078125 and -0.84375
    (0.298828125, -0.84765625)
    """
    if threshold in (0.0, 1.0):
        return threshold, math.copysign(math.inf, threshold - 0.5)
    with localcontext(Context(prec=50)):
        exact = (Decimal(threshold) / (1 - Decimal(threshold))).ln()
        logit = float(exact)
        if Decimal(logit) > exact:
            logit = math.nextafter(logit, -math.inf)
    return _rounded_down(threshold, dtype), _rounded_down(logit, dtype)


def _rounded_down(x: float, dtype: Any) -> float:
    """Return the largest number of a floating type that is at most x, which is in its range."""
    kind = torch.finfo(dtype)
    unit = max(2.0 ** (math.frexp(x)[1] - 1), kind.smallest_normal) * kind.eps
    return float(math.floor(x / unit) * unit)


def _checked_threshold(threshold: Any) -> float:
    if isinstance(threshold, (int, float)) and 0 <= threshold <= 1:
        return float(threshold)
    raise InputError.of("threshold", threshold, "a probability, from 0 to 1")


def _score_steps(task: str, bins: Bins, threshold: float, ignore: int | None) -> tuple[ScoreSteps, float]:
    """Return the steps of scores, cut at the threshold too, and the smallest number that is above it."""
    if task != "binary":
        said = f"`bins` are thresholds for the scores of two classes, and `task` is {task!r}."
        raise InputError(said, "make a binary metric for each class against all others, target == k.", "bins")
    steps = ScoreSteps.of_bins(bins, ignore)
    probabilities = steps.edges[0] >= 0 and steps.edges[-1] <= 1
    chance, logit = cutoffs(threshold, torch.float64)
    above = math.nextafter(chance if probabilities else logit, math.inf)
    edges = tuple(sorted({*steps.edges, above} - {math.inf}))
    return replace(steps, edges=edges, within=(0.0, 1.0) if probabilities else None), above


# ---- the metrics ----------------------------------------------------------------------------------------


class WeightedScore(TableMetric):
    """A measure of wmcc as a metric: the class attribute ``measure`` is the one that is computed.

    Parameters
    ----------
    task, num_classes, threshold, ignore_index, names, bins, options
        As in `TableMetric`.
    zero_division
        The value where the measure is undefined, as in `wmcc.measures.Measure`; also where no pixel has weight.

    Examples
    --------
    All metrics of one number are made and used alike:

    >>> import torch
    >>> from wmcc.adapters.torchmetrics import WeightedAccuracy, WeightedMeanF1, WeightedMPC2
    >>> for kind in (WeightedMPC2, WeightedMeanF1, WeightedAccuracy):
    ...     metric = kind("multiclass", num_classes=3)
    ...     metric.update(torch.tensor([0, 1, 2]), torch.tensor([0, 1, 1]), torch.tensor([1.0, 2.5, 0.5]))
    ...     print(kind.__name__, round(metric.compute().item(), 4))
    WeightedMPC2 0.5818
    WeightedMeanF1 0.6364
    WeightedAccuracy 0.875
    """

    measure: ClassVar[Measure]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.plot_lower_bound, cls.plot_upper_bound = cls.measure.range

    def __init__(
        self,
        task: Task,
        num_classes: int | None = None,
        *,
        zero_division: ZeroDivision = 0.0,
        **options: Unpack[TableOptions],
    ) -> None:
        super().__init__(task, num_classes, **options)
        if self.measure.two_classes and self.num_classes > 2:
            said = f"{self.measure.title} is for two classes, and `num_classes` is {self.num_classes}."
            hint = "use WeightedECC, which is the MCC of several classes, WeightedMPC1 or WeightedMPC2."
            raise InputError(said, hint, "num_classes")
        on_zero(zero_division, self.measure.title)
        self.zero_division = zero_division

    def compute(self) -> Any:
        """Return the score of all pixels so far, of all processes: a tensor of one float64."""
        table = self._table()
        if table.margins.s == 0:
            return self._tensor(on_zero(self.zero_division, self.measure.title)("no pixel has weight"))
        return self._tensor(self.measure(table, zero_division=self.zero_division))


class WeightedMCC(WeightedScore):
    """Weighted Matthews correlation coefficient, for two classes.

    `WeightedECC` is the same for two classes, and the multiclass coefficient for more.

    Examples
    --------
    >>> import torch
    >>> from wmcc.adapters.torchmetrics import WeightedMCC
    >>> metric = WeightedMCC("binary")
    >>> target, preds = torch.tensor([1, 1, 0, 0]), torch.tensor([0.9, 0.3, 0.2, 0.1])
    >>> metric(preds, target)
    tensor(0.5774, dtype=torch.float64)
    >>> metric(preds, target, torch.tensor([100.0, 1.0, 1.0, 1.0]))
    tensor(0.8124, dtype=torch.float64)
    """

    measure: ClassVar[Measure] = mcc


class WeightedECC(WeightedScore):
    """Weighted extended correlation coefficient R_K, for any number of classes.

    With weights of one it is what TorchMetrics and scikit-learn call MatthewsCorrCoef.

    Examples
    --------
    >>> import torch
    >>> from wmcc.adapters.torchmetrics import WeightedECC
    >>> metric = WeightedECC("multiclass", num_classes=3, ignore_index=255)
    >>> logits = torch.tensor([[[2.0, 0.1, 0.3, 0.2], [0.1, 3.0, 0.2, 0.9], [0.0, 0.4, 1.5, 0.1]]])
    >>> target = torch.tensor([[0, 1, 1, 255]])
    >>> metric(logits, target, weight=torch.tensor([[1.0, 2.5, 0.5, 1.0]]))
    tensor(0.7702, dtype=torch.float64)
    """

    measure: ClassVar[Measure] = ecc


class WeightedMPC1(WeightedScore):
    """First weighted multiclass Pearson correlation, for any number of classes."""

    measure: ClassVar[Measure] = mpc1


class WeightedMPC2(WeightedScore):
    """Second weighted multiclass Pearson correlation: the mean of each class's MCC against the rest."""

    measure: ClassVar[Measure] = mpc2


class WeightedMeanIoU(WeightedScore):
    """Weighted mean intersection over union (Jaccard index) of the classes that occur.

    The mean of a binary task is that of both classes. ``BinaryJaccardIndex`` of TorchMetrics is the IoU of class 1:
    entry 1 of `WeightedClassScores`.
    """

    measure: ClassVar[Measure] = mean_iou


class WeightedMeanF1(WeightedScore):
    """Weighted mean F1 score (Dice coefficient) of the classes that occur, of both classes for a binary task."""

    measure: ClassVar[Measure] = mean_f1


class WeightedMeanRecall(WeightedScore):
    """Weighted mean recall of the classes that occur; one that is predicted and never true counts as 0."""

    measure: ClassVar[Measure] = mean_recall


class WeightedAccuracy(WeightedScore):
    """Share of the weight that is predicted right."""

    measure: ClassVar[Measure] = accuracy


class WeightedBalancedAccuracy(WeightedScore):
    """Weighted mean recall of the classes that occur in the target."""

    measure: ClassVar[Measure] = balanced_accuracy


class WeightedKappa(WeightedScore):
    """Cohen's kappa of weighted pixels: accuracy beyond that of guesses with the same margins.

    It is not what is called weighted kappa, in which mistakes weigh differently.
    """

    measure: ClassVar[Measure] = kappa


class WeightedClassScores(TableMetric):
    """A number for each class: the class's weighted IoU, recall, precision, F1, or MCC against the rest.

    Parameters
    ----------
    measure
        ``"iou"``, ``"recall"``, ``"precision"``, ``"f1"`` (Dice) or ``"mcc"``.
    task, num_classes, threshold, ignore_index, names, bins, options
        As in `TableMetric`.
    zero_division
        The value of a class for which the measure is undefined, as in `wmcc.measures.Measure`; NaN tells classes that
        do not occur from those that are never right. An ignored class has it, too.

    Examples
    --------
    >>> import torch
    >>> from wmcc.adapters.torchmetrics import WeightedClassScores
    >>> metric = WeightedClassScores("iou", "multiclass", num_classes=3, zero_division=float("nan"))
    >>> metric(torch.tensor([0, 1, 1]), torch.tensor([0, 1, 0]), torch.tensor([1.0, 2.0, 3.0]))
    tensor([0.2500, 0.4000,    nan], dtype=torch.float64)
    """

    plot_lower_bound, plot_upper_bound = 0.0, 1.0

    def __init__(
        self,
        measure: Literal["iou", "recall", "precision", "f1", "mcc"],
        task: Task,
        num_classes: int | None = None,
        *,
        zero_division: ZeroDivision = 0.0,
        **options: Unpack[TableOptions],
    ) -> None:
        super().__init__(task, num_classes, **options)
        self.measure = named_class_measure(measure)
        on_zero(zero_division, self.measure.title)
        self.zero_division = zero_division

    def compute(self) -> Any:
        """Return the scores of all pixels so far, of all processes: float64, one for each class."""
        table, zero = self._table(), on_zero(self.zero_division, self.measure.title)
        m, absent = table.margins, 0.0 if isinstance(self.zero_division, str) else self.zero_division
        out = np.full(self.num_classes, absent)
        for k, name, r, q, d in zip(self._counted, table.classes, m.r, m.q, m.d, strict=False):  # void comes last
            value = self.measure.value(m.s, r, q, d)
            out[k] = zero(f"class {name!r} lacks weight in target or preds") if value is None else value
        return self._tensor(out)


class WeightedConfusionMatrix(TableMetric):
    """The weight of each pair of a true and a predicted class: rows are true classes.

    Predictions of an ``ignore_index`` that is no class have no column, and a warning says how much weight they have;
    `table` has them.

    Parameters
    ----------
    task, num_classes, threshold, ignore_index, names, bins, options
        As in `TableMetric`.

    Examples
    --------
    >>> import torch
    >>> from wmcc.adapters.torchmetrics import WeightedConfusionMatrix
    >>> metric = WeightedConfusionMatrix("multiclass", num_classes=2)
    >>> metric(torch.tensor([0, 1, 1]), torch.tensor([0, 1, 0]), torch.tensor([1.0, 2.0, 3.0]))
    tensor([[1., 3.],
            [0., 2.]], dtype=torch.float64)
    """

    higher_is_better: ClassVar[Any] = None

    def compute(self) -> Any:
        """Return the matrix of all pixels so far, of all processes: float64, K x K."""
        table, counted, K = self._table(), self._counted, self.num_classes
        weights, known, square = np.asarray(table), len(counted), np.zeros((K, K))
        square[np.ix_(counted, counted)] = weights[:known, :known]
        if table.void and self.ignore_index in range(K):
            square[counted, self.ignore_index] = weights[:known, known]
        elif table.void:
            share = float(table.pred_sums[known]) / table.total if table.total else 0.0
            warn(
                f"{share:.1%} of the weight is predicted as `ignore_index` {self.ignore_index}, which has no column in "
                "this matrix. metric.table() has it.",
                UserWarning,
            )
        return self._tensor(square)

    def plot(self, val: Any = None, ax: Any = None) -> tuple[Any, Any]:
        """Draw `table` as `wmcc.plot.confusion` does; returns figure and axes."""
        if val is not None:
            hint = "leave it out; of an earlier table draw wmcc.plot.confusion(table)."
            raise InputTypeError("val was given, and a matrix alone is not drawn.", hint, "val")
        axes = confusion(self.table(), ax=ax)
        return axes.figure, axes
