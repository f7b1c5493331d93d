"""Sums of single images: on a GPU while they are few, and on the host."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch

from ...core.keys import of_one_kind, plain_key
from ...core.planes import Planes, TalliedCells, occurring, table_of_images
from ...core.table import Table
from ...errors import InputError, InputTypeError

IMAGE_BYTES = 1 << 28
"""Memory of a GPU that the sums of single images may take before they are moved to the host."""


class TalliedImages:
    """The images of a tally: which there are, and the sums of each.

    Parameters
    ----------
    classes, ignore
        Number of classes, and the label that is ignored.
    """

    def __init__(self, classes: int, ignore: int | None) -> None:
        self._classes, self._ignore = classes, ignore
        self._numbered = 0
        self._named: bool | None = None
        self._chunks: list[tuple[Planes, Any]] = []
        self._cells: list[TalliedCells] = []
        self._keys: list[Any] = []
        self._table: Table | None = None

    def keys(self, ids: Any, items: int) -> Any:
        """Return the keys of the images of a batch: ids if they are given, and else numbers."""
        named = ids is not None
        if self._named is not None and self._named != named:
            came, before = ("with", "came without") if named else ("without", "came with them")
            hint = "give them in all updates, or in none."
            raise InputError(f"this update comes {came} image_ids, and those before {before}.", hint, "image_ids")
        if not named:
            self._named, self._numbered = named, self._numbered + items
            return range(self._numbered - items, self._numbered)
        if isinstance(ids, (str, bytes)) or not hasattr(ids, "__len__") or getattr(ids, "ndim", 1) != 1:
            raise InputTypeError(
                f"`image_ids` is of type {type(ids).__name__}; expected a list or a vector, one id for each image.",
                None,
                "image_ids",
            )
        if len(ids) != items:
            raise InputError(
                f"`image_ids` has {len(ids):,} ids, and the batch {items:,} images; expected as many.",
                None,
                "image_ids",
            )
        self._named = named
        # A tensor is read later: to do so now would wait for the device.
        return ids.detach().clone() if isinstance(ids, torch.Tensor) else list(ids)

    def add_on_device(self, state: Planes, keys: Any) -> None:
        """Take the sums of a batch, which are on a device; where these take much memory, all are moved to the host."""
        self._chunks.append((state, keys))
        if sum(own.digits.numel() * 8 for own, _ in self._chunks) > IMAGE_BYTES:
            self._fetch()

    def add_on_host(self, cells: Sequence[TalliedCells], keys: Any) -> None:
        """Take the sums of a batch."""
        self._cells += cells
        self._keys += map(plain_key, keys.tolist() if isinstance(keys, torch.Tensor) else keys)

    def _fetch(self) -> None:
        for state, keys in self._chunks:
            sums = zip(*(x.cpu().numpy() for x in state[:3]), strict=True)
            self.add_on_host([occurring(state._replace(digits=d, least=a, most=b)) for d, a, b in sums], keys)
        self._chunks = []

    @property
    def table(self) -> Table:
        """The table of all images, which are its clusters; no row is counted as ignored."""
        self._fetch()
        if self._cells or self._table is None:
            if None in self._keys:
                raise InputError(
                    "an id among `image_ids` is missing.", "leave out the image, or give it an id.", "image_ids"
                )
            keys = of_one_kind(self._keys, "image_ids")
            new = table_of_images(self._cells, keys, self._classes, self._ignore)
            self._table = new if self._table is None else _merged([self._table, new])
            self._cells, self._keys = [], []
        return self._table

    # ---- together with others ---------------------------------------------------------------------------

    def stored(self) -> dict[str, Any]:
        """Return plain numbers and text that `restore` and `take` read."""
        return {"named": self._named, "numbered": self._numbered, "table": self.table.to_json()}

    def restore(self, stored: Mapping[str, Any]) -> None:
        """Become what was stored."""
        self.__init__(self._classes, self._ignore)  # type: ignore[misc]
        self._named, self._numbered, self._table = stored["named"], stored["numbered"], Table.from_json(stored["table"])

    def take(self, several: Sequence[Mapping[str, Any]], together: bool) -> None:
        """Become the images of all; numbered ones get new numbers.

        If ``together``, as of processes, image i of the r-th of P becomes i P + r. Else those of each come after those
        of the ones before.
        """
        kinds = {images["named"] for images in several} - {None}
        if len(kinds) > 1:
            said = "images have ids in one tally, and none in another; they cannot be added up."
            raise InputError(said, "give image_ids in all updates, or in none.", "image_ids")
        tables, counts = [], [images["numbered"] for images in several]
        for rank, images in enumerate(several):
            table = Table.from_json(images["table"])
            if kinds == {False}:
                step, start = (len(several), rank) if together else (1, sum(counts[:rank]))
                numbers = tuple(k * step + start for k in table.drawn.units)
                table = replace(table, drawn=table.drawn._replace(units=numbers))
            tables.append(table)
        numbered = len(several) * max(counts) if together else sum(counts)
        self.restore({"named": next(iter(kinds), None), "numbered": numbered, "table": _merged(tables).to_json()})


def _merged(tables: Sequence[Table]) -> Table:
    """Return the table of the images of all."""
    used = [table for table in tables if len(table.raw_cells)]
    return Table._merged(used) if used else tables[0]
