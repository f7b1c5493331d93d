"""A table that grows on the device where the predictions are."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
import torch

from ...core import labels as _labels
from ...core import planes
from ...core.design import PIXELS, ROWS
from ...core.doubts import look_like_outputs, warn_of_outputs, warn_of_void
from ...core.labels import Label
from ...core.planes import NARROW, NO_LEAST, NO_MOST, WIDE, Layout, Planes
from ...core.score_table import ScoreTable
from ...core.table import Table
from ...errors import InputError, InputTypeError
from ...present.text import brief
from .batches import Rows, columns_of, has_pixels, is_one_hot, rows_of
from .counting import Repeat, check_device, count, count_op, likeness, on_cuda, on_host, scratch_on, warn_of_host
from .images import TalliedImages
from .steps import ScoreSteps, checked_bins

STATE = (*Planes._fields, "updates")
"""Names of the tensors that are moved and stored."""

VARIOUS = "various"
"""Stands for the shape of an item where items differ in shape."""


class Tally(torch.nn.Module):
    """A table of predictions that grows on their device, exactly.

    It is read as the table that it holds: ``wmcc.score(tally)``, ``wmcc.interval(tally, "ecc")``. The sums are
    integers. So the table is that of `wmcc.tabulate` with all rows at once, to the last bit, whatever the batches, the
    device and the number of processes. Several threads may update it.

    Parameters
    ----------
    num_classes
        Number of classes, K; labels are 0 to K − 1. With ``bins`` it is 2.
    ignore_index
        Rows with this label in the target do not count. A prediction of it is void, and wrong. It may be one of the K.
    names
        Names of the classes: a list of K, or a mapping from labels.
    per_image
        Whether each item of a batch is an image of its own, and a cluster in the table. Intervals then allow for
        pixels of one image being alike; without it, intervals of images warn that they are too short. On a GPU the
        sums of single images take up to 256 MiB; then they are moved to the host, which waits for the device.
    bins
        Thresholds: ``update`` takes scores of class 1 in the place of predictions, and `scores` is their score table.
        Thresholds are for scores as they are, so those of logits are logits. A number n stands for 0, 1/n, 2/n … 1, and
        a score outside of [0, 1] is refused then.

    Attributes
    ----------
    digits, least, most, counts, first, updates
        The sums, and the number of updates, as int64 tensors. ``to`` moves them and ``state_dict`` holds them. They are
        no buffers of the module: ``DistributedDataParallel`` overwrites buffers with those of the first process.

    Examples
    --------
    >>> import torch, wmcc
    >>> from wmcc.adapters.torch import Tally
    >>> tally = Tally(3, ignore_index=255)
    >>> logits = torch.tensor([[[2.0, 0.1, 0.3, 0.2], [0.1, 3.0, 0.2, 0.9], [0.0, 0.4, 1.5, 0.1]]])
    >>> target = torch.tensor([[0, 1, 1, 255]])
    >>> tally.update(logits, target, torch.tensor([[1.0, 2.5, 0.5, 1.0]]))
    >>> round(wmcc.ecc(tally), 6)
    0.770154
    >>> tally.compute() == wmcc.tabulate(
    ...     target, logits.argmax(1), [[1.0, 2.5, 0.5, 1.0]], labels=range(3), ignore=255
    ... )
    True

    Scores of two classes, and what each threshold makes of them:

    >>> tally = Tally(bins=100)
    >>> tally.update(torch.tensor([0.25, 0.75, 0.5, 0.8125]), torch.tensor([0, 0, 1, 1]))
    >>> tally.scores
    Scores of 4 rows in 4 steps, 0.25 to 0.81, positive class 1, total weight 4
    >>> [round(wmcc.mcc(tally.scores.at(threshold)), 4) for threshold in (0.25, 0.5, 0.8)]
    [0.0, 0.5774, 0.5774]
    """

    digits: torch.Tensor
    least: torch.Tensor
    most: torch.Tensor
    counts: torch.Tensor
    first: torch.Tensor
    updates: torch.Tensor

    def __init__(
        self,
        num_classes: int | None = None,
        *,
        ignore_index: int | None = None,
        names: Sequence[Label] | Mapping[int, Label] | None = None,
        per_image: bool = False,
        bins: int | Iterable[float] | None = None,
    ) -> None:
        super().__init__()
        self.bins = checked_bins(bins)
        if self.bins is not None and num_classes not in (None, 2):
            said = f"`num_classes` is {num_classes!r}; `bins` are thresholds for the scores of two classes."
            raise InputError(said, "make a tally for each class against all others, target == k.", "num_classes")
        if self.bins is not None:
            num_classes = 2
        if isinstance(num_classes, bool) or not isinstance(num_classes, (int, np.integer)) or num_classes < 2:
            hint = "of one kind of object and its background num_classes is 2."
            raise InputError.of("num_classes", num_classes, "an integer of at least 2", hint)
        self.num_classes: int = int(num_classes)
        self.ignore_index: int | None = planes.check_ignore(ignore_index)
        self.names: dict[int, Label] | None = _checked_names(names, self.num_classes, self.ignore_index)
        self.per_image: bool = bool(per_image)
        self._lock = threading.RLock()
        self._start(None if self.bins is None else ScoreSteps.of_bins(self.bins, self.ignore_index))

    def _start(self, steps: ScoreSteps | None) -> None:
        """Begin with no rows, of labels or of steps of scores."""
        self._steps = steps
        self._counted_as = (self.num_classes, self.ignore_index) if steps is None else steps.counted_as
        device = torch.get_default_device()
        for name, own in planes.no_rows(self._counted_as[0])._asdict().items():
            setattr(self, name, torch.from_numpy(own).to(device))
        self.updates = torch.zeros((), dtype=torch.int64)
        self._scratch = scratch_on(self.digits.device)
        self._cuts = None if steps is None else steps.cuts(self.digits.device)
        self._forget()

    def _forget(self) -> None:
        self._images = TalliedImages(*self._counted_as)
        self._item: tuple[int, ...] | str | None = None
        self._channels = self._pixels = self._reduced = False
        self._columns = 1
        self._repeat: Repeat | None = None

    # ---- writing ----------------------------------------------------------------------------------------

    def update(self, pred: Any, target: Any, weight: Any = None, *, image_ids: Any = None) -> None:
        """Add a batch. Bad labels and weights are noted, and `compute` refuses them; nothing waits for a GPU.

        Parameters
        ----------
        pred
            Predicted labels, of the shape of the target; or logits or probabilities of the classes on axis 1, of which
            the largest is predicted. With ``bins``, the score of class 1 for each label, of any floating type; it is
            compared as it is, without rounding.
        target
            True labels: (B, H, W), (B, 1, H, W), (N,), or any other shape, the first axis of which counts items. They
            are integers or booleans, and so are predicted labels.
        weight
            A weight for each label; or what fits: one map for all images (H, W), one weight for each image (B,) or
            (B, 1, 1). What fits both the first and the last axes is refused, such as (B,) for images as wide as the
            batch is long; (B, 1, 1) is never refused. float64 weights take more memory than others.
        image_ids
            With ``per_image``: which image each item is of, as a list or vector of numbers or text; without it each
            item is an image. Items with the same id are one image, also across batches.

        Examples
        --------
        >>> import torch
        >>> from wmcc.adapters.torch import Tally
        >>> tally = Tally(2, per_image=True)
        >>> target = torch.tensor([[0, 0, 1], [1, 1, 0]])
        >>> tally.update(torch.tensor([[0, 1, 1], [1, 1, 0]]), target, torch.tensor([0.5, 2.0]), image_ids=["a", "b"])
        >>> tally.table.drawn.clusters
        ('a', 'b')
        """
        if torch.compiler.is_compiling():
            self._add(pred, target, weight, image_ids, compiling=True)
            return
        with self._lock:
            if not self._counted_again(pred, target, weight, image_ids):
                self._add(pred, target, weight, image_ids, compiling=False)

    def _add(self, pred: Any, target: Any, weight: Any, image_ids: Any, compiling: bool) -> None:
        if self._steps is not None:
            pred = self._steps.steps(pred, target, self._cuts)
        rows = rows_of(pred, target, weight, self.num_classes)
        if image_ids is not None and not self.per_image:
            hint = "make it with `per_image` True."
            raise InputError("`image_ids` were given, and this tally does not keep images apart.", hint, "image_ids")
        if rows.target.ndim > 2 and rows.target.size(1) == self.num_classes:
            # on a GPU, or while compiling, the table alone tells: to look at the labels would wait for the device
            seen = not compiling and rows.target.device.type == "cpu"
            labels = rows[:2] if self._steps is None else rows[:1]
            self._channels |= not seen or all(is_one_hot(own, self.num_classes) for own in labels)
        if self._steps is not None:
            rows = self._steps.folded(rows)
        if has_pixels(rows.target):
            self._pixels = True
        if self.per_image:
            # Not as a decorator: that would load torch's compiler, which takes as long as all the rest of torch.
            apart = torch.compiler.disable(self._count_images) if compiling else self._count_images
            apart(rows, image_ids)
            return
        if rows.weight is not None and rows.weight.dtype is torch.float64 and self.digits.size(0) != WIDE.planes:
            self._widen()
        if compiling:
            self._item = VARIOUS  # to look at it here would compile anew for each shape
            count_op(*self._state, self.updates, self._scratch, *rows, *self._counted_as)
        else:
            self._note_shape(rows.target)
            self._columns = columns_of(pred, rows.target)
            count(self._state, self.updates, self._scratch, rows, *self._counted_as)
            if rows.target.is_cuda and rows.target is target and rows.pred is pred and rows.weight is weight:
                self._repeat = Repeat.of(rows, self.digits, self.num_classes, self.ignore_index)

    def _counted_again(self, pred: Any, target: Any, weight: Any, image_ids: Any) -> bool:
        """Count a batch on a GPU that is like the one before, the short way; returns whether it is one."""
        repeat = self._repeat
        if repeat is None or image_ids is not None:
            return False
        try:
            like = likeness(pred, target, weight, self.digits, self.num_classes, self.ignore_index)
        except AttributeError:  # they are no tensors
            return False
        if like != repeat.like:
            return False
        return repeat.add(self._state, self.updates, self._scratch, pred, target, weight)

    def forward(self, pred: Any, target: Any, weight: Any = None, *, image_ids: Any = None) -> None:
        """Do what `update` does."""
        self.update(pred, target, weight, image_ids=image_ids)

    def reset(self) -> None:
        """Forget all rows."""
        with self._lock:
            self.digits.zero_()
            self.least.fill_(NO_LEAST)
            self.most.fill_(NO_MOST)
            self.counts.zero_()
            self.first.zero_()
            self.first[:, 0] = -1
            self.updates.zero_()
            self._forget()

    @property
    def _state(self) -> Planes:
        return Planes(self.digits, self.least, self.most, self.counts, self.first)

    def _note_shape(self, target: Any) -> None:
        shape = target.shape[1:]
        if shape != self._item:
            self._item = tuple(shape) if self._item is None else VARIOUS

    def _widen(self) -> None:
        """Make room for float64 weights."""
        if self.digits.is_cuda and torch.cuda.is_current_stream_capturing():
            said = "float64 weights came while a CUDA graph is captured, and they need more memory than the tally has."
            hint = "give float32 weights; or update once with float64 weights before the capture, and call reset()."
            raise InputError(said, hint, "weight")
        self.digits = wide(self.digits)

    def _count_images(self, rows: Rows, image_ids: Any) -> None:
        target, (classes, ignore) = rows.target, self._counted_as
        check_device(self.digits, target)
        if target.is_cuda and torch.cuda.is_current_stream_capturing():
            said = "a tally with `per_image` True takes new memory for each batch, so a CUDA graph cannot hold it."
            raise InputError(said, "call update outside the graph, or make the tally without per_image.")
        keys = self._images.keys(image_ids, len(target))
        self._note_shape(target)
        if not target.numel():
            self.updates.add_(1)
            return
        if target.device.type != "cpu":
            layout = WIDE if rows.weight is not None and rows.weight.dtype is torch.float64 else NARROW
            sums = _sums_on(target.device, len(target), classes, layout)
            state = Planes(*sums, self.counts, self.first)
            problem = on_cuda(state, self.updates, self._scratch, rows, classes, ignore, apart=True)
            if problem is None:
                self._images.add_on_device(state, keys)
                return
            warn_of_host(target.device, problem)
        arrays, (counts, first) = on_host(rows), (self.counts.cpu().numpy(), self.first.cpu().numpy())
        truth, pred, weight = arrays
        weights = [None] * len(truth) if weight is None else np.broadcast_to(weight, truth.shape)[:, None]
        items = zip(truth[:, None], pred[:, None], weights, strict=True)
        cells, bad = zip(*(planes.cells_of_rows(*item, classes, ignore, counts) for item in items), strict=True)
        if any(bad):
            planes.note_bad(counts, first, *arrays, classes, ignore, int(self.updates))
        self.counts.copy_(torch.from_numpy(counts))
        self.first.copy_(torch.from_numpy(first))
        self._images.add_on_host(cells, keys)
        self.updates.add_(1)

    # ---- reading ----------------------------------------------------------------------------------------

    def compute(self) -> Table:
        """Return the table of all rows so far; it waits for the device, and refuses bad rows.

        It warns if the ignored label is predicted and never true, as when arguments are swapped; and of labels of 0 and
        1 in shape (N, L) that look like L outputs, which are counted together.

        Examples
        --------
        >>> import torch
        >>> from wmcc.adapters.torch import Tally
        >>> tally = Tally(2)
        >>> tally.update(torch.tensor([[0, 1], [1, 1]]), torch.tensor([[0, 1], [0, 2]]))
        >>> tally.compute()
        Traceback (most recent call last):
            ...
        wmcc.errors.LabelError: target[1, 1] of update 0 is 2, which is not among the classes 0 to 1. 1 row has such a
        label.
        <BLANKLINE>
        Hint: use `num_classes` 3 or more if it is a class, or `ignore_index` 2 if it marks pixels that do not count.
        """
        if self._steps is not None:
            raise InputTypeError(
                "this tally holds scores, and a table needs labels.",
                "read its .scores; tally.scores.at(0.5) is the table of a threshold.",
            )
        with self._lock:
            table, columns = self._table(), self._columns
        warn_of_void(table, "target", "pred", "update takes the predictions first, and the target second")
        if look_like_outputs((table.rows + table.ignored) // columns, columns):
            met = {table.labels[k] for codes in table.cells.codes for k in np.unique(codes)}
            if met <= {0, 1, *table.void}:
                warn_of_outputs(columns, "target", "pred", ".flatten()")
        if self.names is None:
            return table
        return table.rename({label: self.names[label] for label in table.labels if label in self.names})

    def _table(self) -> Table:
        """Return the table of labels, or of what steps of scores are counted as; bad rows are refused."""
        item = self._item if isinstance(self._item, tuple) else None
        (classes, ignore), steps = self._counted_as, self._steps
        counts, first = self.counts.cpu().numpy(), self.first.cpu().numpy()
        if steps is None:
            planes.refuse_bad(counts, first, classes, ignore, item)
        else:
            steps.refuse_bad(counts, first, item)
        if self.per_image:
            table = replace(self._images.table, ignored=int(counts[0]))
        else:
            drawn = PIXELS if self._pixels else ROWS
            table = planes.table_of(Planes(*(x.cpu().numpy() for x in self._state)), ignore, item, drawn)
        if self._channels:
            _check_one_hot(table if steps is None else steps.scores(table).tables.total(), self.num_classes)
        return table

    @property
    def table(self) -> Table:
        """The table of all rows so far, as `compute` returns it."""
        return self.compute()

    @property
    def scores(self) -> ScoreTable:
        """The score table of all rows so far, of a tally with ``bins``: `wmcc.tabulate` with them as ``thresholds``.

        It waits for the device, and refuses bad rows. A score is positive where it is at least the threshold.

        Examples
        --------
        >>> import torch
        >>> import wmcc
        >>> from wmcc.adapters.torch import Tally
        >>> logits, target = torch.tensor([-1.5, 0.25, 3.0, 0.5]), torch.tensor([0, 0, 1, 1])
        >>> tally = Tally(bins=[-1, 0, 0.5, 1])
        >>> tally.update(logits.bfloat16(), target)
        >>> tally.scores == wmcc.tabulate(target, score=logits, thresholds=[-1, 0, 0.5, 1], labels=[0, 1])
        True
        """
        if self._steps is None:
            raise InputTypeError("this tally has no scores.", "make it with `bins`, such as Tally(bins=100).")
        with self._lock:
            table, columns = self._table(), self._columns
        scores = self._steps.scores(table, self.names)
        if look_like_outputs((scores.rows + scores.ignored) // columns, columns):
            warn_of_outputs(columns, "target", "pred", ".flatten()")
        return scores

    def extra_repr(self) -> str:
        """Say what it was made with, for ``repr``."""
        given: dict[str, Any] = {"ignore_index": self.ignore_index, "names": self.names}
        given |= {"per_image": self.per_image or None, "bins": self.bins}
        return ", ".join([str(self.num_classes), *(f"{name}={x!r}" for name, x in given.items() if x is not None)])

    # ---- adding up --------------------------------------------------------------------------------------

    def merge(self, other: Tally) -> None:
        """Add all that another tally holds; the other does not change.

        Images that have no ids keep their order: those of the other are numbered after those of this one.
        """
        if not isinstance(other, Tally):
            raise InputTypeError(f"`other` is of type {type(other).__name__}; expected a Tally.", None, "other")
        if other is self:
            raise InputError("a tally cannot be merged with itself: its rows would count twice.", None, "other")
        self._check_same(other._meaning(), "the other tally")
        if self.per_image:
            self._images.take([self._images.stored(), other._images.stored()], together=False)
        device = self.digits.device
        theirs = Planes(*(x.to(device, copy=True) for x in other._state))
        self.digits, added = alike(self.digits, theirs.digits)
        self.digits += added
        self.least.copy_(torch.minimum(self.least, theirs.least))
        self.most.copy_(torch.maximum(self.most, theirs.most))
        self.counts += theirs.counts
        self.updates += other.updates.to(device)
        self._columns = max(self._columns, other._columns)
        self._join([self.first, theirs.first], [other._shapes])

    def all_reduce(self, group: Any = None) -> None:
        """Add up the tallies of all processes; each of them then holds the sum, and `compute` gives the same table.

        All processes of the group call it after their last batch, and `reset` before the next pass. Averages of scores
        over processes would be wrong; this adds up the sums that scores are made of.

        Images that have no ids get new numbers: image i of process r of P becomes i P + r. That is its place in the
        data set if a ``DistributedSampler`` without shuffling handed it out. Such a sampler repeats images so that
        all processes have as many, and repeated ones count twice.

        Parameters
        ----------
        group
            The process group of ``torch.distributed``; None is that of all processes.
        """
        dist = torch.distributed
        if not (dist.is_available() and dist.is_initialized()):
            hint = "call torch.distributed.init_process_group() first; a single process needs no all_reduce."
            raise InputError("torch.distributed is not initialized, so there are no processes to add up.", hint)
        if self._reduced:
            said = "this tally holds the sum of all processes already; to add it up again would count rows twice."
            raise InputError(said, "call reset() before the next pass.")
        mine = {
            **self._meaning(),
            "wide": len(self.digits) == WIDE.planes,
            "first": self.first.cpu(),
            "shape": self._shapes,
            "images": self._images.stored() if self.per_image else None,
        }
        everyone: list[Any] = [None] * dist.get_world_size(group)
        dist.all_gather_object(everyone, mine, group=group)
        for rank, other in enumerate(everyone):
            self._check_same(other, f"the tally of process {rank}")
        if self.per_image:
            self._images.take([other["images"] for other in everyone], together=True)
        if any(other["wide"] for other in everyone):
            self.digits = wide(self.digits)
        planes.settle(self.digits)
        for tensor in (self.digits, self.counts, self.updates):
            dist.all_reduce(tensor, op=dist.ReduceOp.SUM, group=group)
        dist.all_reduce(self.least, op=dist.ReduceOp.MIN, group=group)
        dist.all_reduce(self.most, op=dist.ReduceOp.MAX, group=group)
        self._join([other["first"] for other in everyone], [other["shape"] for other in everyone])
        self._reduced = True

    @property
    def _shapes(self) -> tuple[Any, bool, bool]:
        """What is known of the shapes of batches."""
        return self._item, self._channels, self._pixels

    def _join(self, firsts: Sequence[Any], shapes: Sequence[tuple[Any, bool, bool]]) -> None:
        """Take over where the first bad rows of all are, and what is known of the shapes of batches."""
        self.first.copy_(earliest(torch.stack(firsts)))
        for item, channels, pixels in shapes:
            self._channels, self._pixels = self._channels or channels, self._pixels or pixels
            if item is not None and item != self._item:
                self._item = item if self._item is None else VARIOUS

    def _meaning(self) -> dict[str, Any]:
        """What two tallies must have in common to be added up."""
        own = {"num_classes": self.num_classes, "ignore_index": self.ignore_index, "per_image": self.per_image}
        return {**own, "bins": self.bins}

    def _check_same(self, other: Mapping[str, Any], whose: str) -> None:
        for name, own in self._meaning().items():
            if other.get(name) != own:  # what was stored before there were bins does not have them
                came, here = brief(other.get(name)), brief(own)
                said = f"{whose} has `{name}` {came}, and this one `{name}` {here}; they do not fit together."
                raise InputError(said, f"make both with the same {name}.")

    # ---- moving and storing -----------------------------------------------------------------------------

    def _apply(self, fn: Callable[[Any], Any], recurse: bool = True) -> Self:
        super()._apply(fn, recurse)
        unfilled = self.digits.is_meta
        for name in STATE:
            own = getattr(self, name)
            new = fn(own)
            setattr(self, name, new if new.dtype is own.dtype else own.to(new.device))  # type() casts integers as well
        if unfilled and not self.digits.is_meta:
            self.reset()
        self._scratch = scratch_on(self.digits.device, self._scratch)
        if self._steps is not None:
            self._cuts = self._steps.cuts(self.digits.device, self._cuts)
        return self

    def __getstate__(self) -> dict[str, Any]:
        own = {**self.__dict__, "_repeat": None}  # kernels and locks are of this process
        del own["_lock"]
        return own

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._lock = threading.RLock()

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
        for name in STATE:
            destination[prefix + name] = getattr(self, name)

    def get_extra_state(self) -> dict[str, Any]:
        """Return what a ``state_dict`` holds beside tensors: plain numbers and text."""
        return {
            **self._meaning(),
            "item": list(self._item) if isinstance(self._item, tuple) else self._item,
            "channels": self._channels,
            "pixels": self._pixels,
            "reduced": self._reduced,
            "images": self._images.stored() if self.per_image else None,
        }

    def set_extra_state(self, state: dict[str, Any]) -> None:
        """Read what `get_extra_state` returned."""
        self._check_same(state, "the stored tally")
        self._forget()
        self._item = tuple(state["item"]) if isinstance(state["item"], list) else state["item"]
        self._channels, self._pixels, self._reduced = state["channels"], state["pixels"], state["reduced"]
        if self.per_image:
            self._images.restore(state["images"])

    def _load_from_state_dict(self, state_dict: Any, prefix: str, metadata: Any, strict: bool, *found: Any) -> None:
        own = {prefix + name: name for name in STATE}
        others = {key: x for key, x in state_dict.items() if key not in own}
        super()._load_from_state_dict(others, prefix, metadata, strict, *found)
        absent = [key for key in own if key not in state_dict]
        if absent:
            found[0].extend(absent)  # the keys that are missing; others are of what is not expected, and of errors
            return
        digits = state_dict[prefix + "digits"]
        classes = planes.classes_of(digits.shape[-1])
        if classes != self._counted_as[0]:
            self._check_same({**self._meaning(), "num_classes": classes, "bins": "unknown"}, "the stored tally")
        if WIDE.planes in (len(self.digits), len(digits)):
            self.digits, digits = wide(self.digits), wide(digits)
        assign = metadata.get("assign_to_params_buffers", False)
        for name, stored in {**{name: state_dict[prefix + name] for name in STATE}, "digits": digits}.items():
            if assign:
                setattr(self, name, stored.clone())
            else:
                getattr(self, name).copy_(stored)
        self._scratch = scratch_on(self.digits.device, self._scratch)


def _checked_names(names: Any, classes: int, ignore: int | None) -> dict[int, Label] | None:
    if names is None:
        return None
    if not isinstance(names, Mapping):
        several = [] if isinstance(names, str) or not isinstance(names, Iterable) else list(names)
        if len(several) != classes:
            raise InputError.of("names", names, f"a list of {classes} names, or a mapping from labels to names")
        names = dict(enumerate(several))
    labels = {str(label): label for label in (*range(classes), ignore) if label is not None}  # keys may be text
    for key in names:
        if str(key) not in labels:
            expected = f"classes from 0 to {classes - 1}" + ("" if ignore is None else f", or `ignore_index`, {ignore}")
            raise InputError(f"`names` has the key {key!r}; expected {expected}.", None, "names")
    named = {labels[str(key)]: _labels.as_label(name, f"names[{key!r}]") for key, name in names.items()}
    nameless = next((k for k in range(classes) if k not in named and k != ignore), None)
    if nameless is not None:
        raise InputError(f"`names` has no name for the class {nameless}.", "give one to each class.", "names")
    _labels.given(list(named.values()), "names")
    return named


def _check_one_hot(table: Table, classes: int) -> None:
    """Refuse labels that were one-hot: as long an axis as there are classes, and a single 1 on it in all."""
    ones = [table.cells.sums.n[codes == 1].sum() for codes in table.cells.codes]
    binary = all((codes <= 1).all() for codes in table.cells.codes)
    if table.rows and binary and all(own * classes == table.rows for own in ones):
        raise InputError(
            f"axis 1 of pred and of target has {classes} entries, as many as there are classes, and 1 label in "
            f"{classes} is 1 while all others are 0: they look one-hot.",
            "pass pred.argmax(1) and target.argmax(1); if they are labels, pass pred.flatten(1) and target.flatten(1).",
            "target",
        )


def wide(digits: Any) -> Any:
    """Return digits in the layout for float64 weights."""
    if len(digits) == WIDE.planes:
        return digits
    planes.check_classes(planes.classes_of(digits.shape[-1]), WIDE)
    with torch.inference_mode(False):  # a tensor that is made under it cannot be changed outside
        zeros = torch.zeros((WIDE.planes, *digits.shape[1:]), dtype=torch.int64, device=digits.device)
    return planes.widen(digits, zeros)


def alike(digits: Any, others: Any) -> tuple[Any, Any]:
    """Return digits of two tallies in the layout that both fit, their carries settled, ready to be added up."""
    if WIDE.planes in (len(digits), len(others)):
        digits, others = wide(digits), wide(others)
    planes.settle(digits)
    planes.settle(others)
    return digits, others


def earliest(first: Any) -> Any:
    """Return the first bad rows of several states: those of the lowest update, and of the earlier state."""
    update = first[:, :, 0]
    update = torch.where(update < 0, torch.iinfo(torch.int64).max, update)
    return first[update.argmin(0), torch.arange(first.shape[1], device=first.device)]


def _sums_on(device: Any, items: int, classes: int, layout: Layout) -> tuple[Any, Any, Any]:
    """Digits, smallest and largest weights of no rows, for each of some images."""
    cells = classes * (classes + 1)
    return (
        torch.zeros((items, layout.planes, cells), dtype=torch.int64, device=device),
        torch.full((items, cells), NO_LEAST, dtype=torch.int64, device=device),
        torch.full((items, cells), NO_MOST, dtype=torch.int64, device=device),
    )
