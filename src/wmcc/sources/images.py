"""Folders of images: files paired by name, all that does not match at once, and a table with images as clusters."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ..core.arraytypes import Array
from ..core.threads import MOST_THREADS, in_order, processors
from ..errors import InputError, InputTypeError, missing_file
from ..present.text import brief, counted
from .arrays import OfParts, folded, of_one_item
from .codes import Rules
from .columns import label_column
from .files import FileSet, ends_like_file, holds
from .groups import Keyed, keys_by_name, keys_of_rows
from .pixels import AFTER_JPEG, FORMATS, LOSSY, Header, Role, ending, quiet, read_header, read_image, weights_of
from .progress import reading
from .values import Area, Blocks

SHOWN = 5
"""Files that a sentence names; of the others it has the number."""

FOLDER = "folder"
"""What is given as ``by`` or ``cluster`` for the folder that an image is in."""

Place = str | os.PathLike[str]
"""A folder, or a pattern with one star."""


def are_folders(y_true: Any, y_pred: Any) -> bool:
    """Whether labels are given as folders of images, and not as arrays, or as a file and columns.

    Files of images in a list are refused, or else their names would be labels. So is what goes with no folder.
    """
    if isinstance(y_true, (list, tuple)):
        first = os.fspath(y_true[0])
        if ending(first) and os.path.isfile(first):
            raise InputTypeError(
                f"y_true is a list of files, of which the first is {first!r}; expected a folder or a pattern.",
                GIVE_FOLDERS,
                "y_true",
            )
        return False
    preds = list(y_pred.values()) if isinstance(y_pred, Mapping) else [y_pred]
    truth = os.path.expanduser(os.fspath(y_true))
    if not preds or not all(isinstance(x, (str, os.PathLike)) for x in preds):
        if preds and _is_place(truth) and _found(truth):
            raise InputTypeError(
                f"y_true is a folder of images, and y_pred is {brief(y_pred)}; expected a folder too.",
                f'{GIVE_FOLDERS} Several predictions are a mapping: {{"A": "pred_a/", "B": "pred_b/"}}.',
                "y_pred",
            )
        return False
    others = [os.path.expanduser(os.fspath(x)) for x in preds]
    if os.path.isfile(truth) or ends_like_file(truth):
        return bool(ending(truth))
    return any(map(_is_place, others)) or (_is_place(truth) and bool(_found(truth)))


GIVE_FOLDERS = 'write tabulate("truth/", "pred/"), or patterns: tabulate("truth/*_labels.png", "pred/*.png").'


def _is_place(name: str) -> bool:
    return os.path.isdir(name) or "*" in name or name.endswith(("/", os.sep))


# ---- which files there are ---------------------------------------------------------------------------


def _found(place: str) -> dict[str, list[str]]:
    """Return the files of images in a folder and in the folders there, or those that a pattern matches, by name.

    The name of an image is its path in the folder without the ending, or what the star of the pattern stands for.
    """
    place = place.replace(os.sep, "/")
    folder, before, after = place, "", ""
    if not os.path.isdir(place):
        before, _, after = place.replace("**/*", "*").partition("*")
        folder, slash, before = before.rpartition("/")
        folder = folder + slash or "."
    found: dict[str, list[str]] = {}
    above = {folder: frozenset([os.path.realpath(folder)])}  # a link to one of these would never end
    for here, folders, files in os.walk(folder, onerror=_unreadable_folder, followlinks=True):
        own = above.pop(here)
        real = {x: os.path.realpath(os.path.join(here, x)) for x in sorted(folders) if not x.startswith(".")}
        folders[:] = [x for x in real if real[x] not in own]
        above |= {os.path.join(here, x): own | {real[x]} for x in folders}
        for file in sorted(files):
            end = ending(file)
            if not end or file.startswith("."):
                continue
            path = os.path.join(here, file)
            whole = os.path.relpath(path, folder).replace(os.sep, "/")
            name = whole if ending(after) else whole[: -len(end)]
            if len(name) > len(before) + len(after) and name.startswith(before) and name.endswith(after):
                found.setdefault(name[len(before) : len(name) - len(after)], []).append(path)
    return found


def _unreadable_folder(problem: OSError) -> None:
    raise InputError(f"the folder {problem.filename!r} cannot be read: {problem.strerror or problem}.")


class ImageArrays(NamedTuple):
    """The arrays of one image: true labels, those of each prediction, and weights."""

    truth: Array
    preds: tuple[Array, ...]
    weight: Array | None


class Side(NamedTuple):
    """A folder of images: as it was given, what it holds, and the path of each image by name."""

    place: str
    role: Role
    paths: Mapping[str, str]


class ImageFolders:
    """Folders of images that belong together: the truth, predictions and, maybe, weights.

    Files of the same name belong together: the path in the folder without the ending, or what the star of a pattern
    stands for. All files are looked at, their beginnings only, and all that does not match is said at once.

    Parameters
    ----------
    truth
        A folder of label maps, or a pattern with one star such as ``"truth/*_labelIds.png"``; the star may stand for
        folders too. Formats are PNG, TIFF and NPY. Palettes are read as their indices.
    preds
        The folder or pattern of the predictions, or a mapping from names to such.
    weights
        A folder or pattern of weight maps; a function that makes the weight map of a true label map; or None.

    Attributes
    ----------
    names
        The names of the images, sorted.
    in_space
        Files that are GeoTIFFs, which say where they lie or which number is nodata.
    predictions
        The names of the predictions; none if there is one without a name.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> from wmcc.sources.images import ImageFolders
    >>> root = tempfile.mkdtemp()
    >>> for folder in ("truth", "pred"):
    ...     os.mkdir(f"{root}/{folder}")
    ...     np.save(f"{root}/{folder}/street.npy", np.array([[0, 1], [1, 255]], dtype=np.uint8))
    >>> folders = ImageFolders(f"{root}/truth", f"{root}/pred", np.ones_like)
    >>> folders.names
    ('street',)
    >>> truth, preds, weight = folders.read("street")
    >>> weight.tolist()
    [[1, 1], [1, 1]]
    """

    def __init__(
        self,
        truth: Place,
        preds: Place | Mapping[str, Place],
        weights: Place | Callable[[Array], Any] | None = None,
    ) -> None:
        self.predictions: tuple[str, ...] = tuple(map(str, preds)) if isinstance(preds, Mapping) else ()
        given: list[Any] = list(preds.values()) if isinstance(preds, Mapping) else [preds]
        sides = [_side(own, "labels") for own in (truth, *given)]
        self._map: Callable[[Array], Any] | None = None
        if callable(weights):
            self._map = weights
        elif weights is not None:
            sides.append(_side(weights, "weights"))
        self._sides = sides
        with quiet():
            self.in_space: frozenset[str] = _check_alike(sides)
        self.names: tuple[str, ...] = tuple(sorted(sides[0].paths))

    @property
    def paths(self) -> tuple[str, ...]:
        """All files, folder by folder."""
        return tuple(side.paths[name] for side in self._sides for name in self.names)

    def files(self, name: str) -> tuple[str, ...]:
        """Return the files of an image: the truth, each prediction and, if there is one, the weight map."""
        if name not in self._sides[0].paths:
            raise InputError(f"there is no image {name!r} in {self._sides[0].place!r}.")
        return tuple(side.paths[name] for side in self._sides)

    def read(self, name: str) -> ImageArrays:
        """Read an image by its name."""
        with quiet():
            return self.load(name)

    def load(self, name: str) -> ImageArrays:
        """Read an image, from any thread; warnings of Pillow are left to the caller."""
        files = self.files(name)
        arrays = [read_image(path, side.role) for path, side in zip(files, self._sides, strict=True)]
        truth = arrays[0]
        last = arrays.pop() if self._sides[-1].role == "weights" else None
        if self._map is not None:
            last = weights_of(self._map, truth, files[0])
        for path, other in zip(files[1:], (*arrays[1:], *([] if last is None else [last])), strict=False):
            if other.shape != truth.shape:  # the file changed after it was looked at
                raise InputError(f"{path} is {_size(other.shape)}, and {files[0]} {_size(truth.shape)}.")
        if self._map is not None and last is not None and last.shape != truth.shape:
            raise InputError(
                f"{self.weight_name(name)} is {_size(last.shape)}, and the label map {_size(truth.shape)}.",
                "the function must return one weight per pixel of the label map that it is called with.",
            )
        return ImageArrays(truth, tuple(arrays[1:]), last)

    def tiles(self) -> tuple[list[Any], Any, Any]:
        """Return the true images, those of the predictions, and the weights, as `tabulate_rasters` takes them."""
        from .raster_inputs import ImageFile

        several = [
            [path if path in self.in_space else ImageFile(path) for path in (side.paths[name] for name in self.names)]
            for side in self._sides
        ]
        weights: Any = several.pop() if self._sides[-1].role == "weights" else self._map
        truths, *preds = several
        return truths, dict(zip(self.predictions, preds, strict=True)) if self.predictions else preds[0], weights

    def weight_name(self, name: str) -> str:
        """What to call the weights of an image in a message."""
        files = self.files(name)
        return f"the weight map made of {files[0]}" if self._map is not None else files[-1]


def _side(given: Any, role: Role) -> Side:
    """Find the images of a folder or pattern."""
    if not isinstance(given, (str, os.PathLike)):  # labels are, or this would not have been called
        raise InputTypeError(
            f"sample_weight is {brief(given)}; with folders of images expected a folder of weight maps, a function "
            "that makes one of a label map, or None.",
            argument="sample_weight",
        )
    place = os.path.expanduser(os.fspath(given))
    if not os.path.isdir(place):
        _check_pattern(place, role)
    found = _found(place)
    if not found:
        folder = os.path.dirname(place.partition("*")[0])
        said = f"no image matches {place!r}{holds(folder, f'the folder {folder!r}' if folder else 'the folder')}."
        if os.path.isdir(place):
            said = f"there are no images in {place!r}{holds(place)}."
        raise InputError(said, f"the names of images end with {', '.join(FORMATS)}.")
    wrong = [paths for paths in found.values() if len(paths) > 1]
    if wrong:
        raise InputError(
            f"two files have the same name but for the ending: {_some([' and '.join(paths) for paths in wrong])}.",
            f"choose one format with a pattern, such as {os.path.join(place, '*.png')!r}."
            if os.path.isdir(place)
            else "choose one format with the ending of the pattern.",
        )
    paths = {name: one for name, (one,) in found.items()}
    odd = [path for path in paths.values() if ending(path) not in FORMATS]
    if odd:
        lossy = role == "labels" and all(ending(path) in LOSSY.split() for path in odd)
        raise InputError(
            f"{place!r} has {counted(len(odd), 'image')} of a format that is not read: {_some(odd)}.",
            f"{AFTER_JPEG} Or choose others with a pattern, as 'folder/*.png'."
            if lossy
            else f"images are read from {', '.join(FORMATS)}; convert them, or choose others with a pattern, as "
            "'folder/*.png'.",
        )
    return Side(place, role, paths)


def _check_pattern(place: str, role: Role) -> None:
    """Refuse what is neither a folder nor a pattern with one star."""
    stars = place.replace("**/*", "*").count("*")
    if os.path.isfile(place) or (stars == 0 and os.path.exists(place)):
        raise InputError(
            f"{place!r} is a file; expected a folder of images, or a pattern such as 'folder/*.png'.",
            "give the folder that it is in, or read it into an array: numpy.asarray(PIL.Image.open(path)).",
        )
    if stars > 1 or (stars == 0 and any(x in place for x in "?[{")):
        raise InputError(
            f"the pattern {place!r} has {stars} stars; expected one *, which stands for the name of an image.",
            "the * may stand for folders too: 'truth/*_labelIds.png' has the image truth/aachen/0001_labelIds.png.",
        )
    if stars == 0:
        hint, shell = missing_file(place.rstrip("/")).hint, None
        if hint is None and role == "weights":
            hint = "weights can be made of the truth: sample_weight=wmcc.weightmaps.border."
            shell = "weights can be made of the truth: --weight-map border."
        raise InputError(missing_file(place).message.replace("no file", "no folder"), hint, shell=shell)
    folder = os.path.dirname(place.partition("*")[0]) or "."
    if not os.path.isdir(folder):
        raise InputError(f"no file matches {place!r}: there is no folder {folder!r}.")


def _some(names: Sequence[str]) -> str:
    """Name the first of some, and count the others."""
    more = len(names) - SHOWN
    return ", ".join(names[:SHOWN]) + (f" and {more:,} more" if more > 0 else "")


def _check_alike(sides: Sequence[Side]) -> frozenset[str]:
    """Refuse folders that do not match: images without partner, of other sizes, or that hold no labels or weights.

    Returns the files that are GeoTIFFs.
    """
    truth, *others = sides
    said: list[str] = []
    hints: list[str] = []
    for side in others:
        for one, other in ((truth, side), (side, truth)):
            lost = sorted(one.paths.keys() - other.paths.keys())
            if lost:
                are = "is" if len(lost) == 1 else "are"
                said.append(
                    f"{counted(len(lost), 'image')} of {one.place!r} {are} not in {other.place!r}: {_some(lost)}"
                )
    if said:
        hints.append(BY_NAME)
    broken: list[Header] = []
    sizes: list[str] = []
    in_space: set[str] = set()
    for name in sorted(truth.paths):
        headers = [(side, read_header(side.paths[name], side.role)) for side in sides if name in side.paths]
        broken += (header for _, header in headers if header.problem is not None)
        in_space |= {side.paths[name] for side, header in headers if header.in_space}
        shapes = {side.place: header.shape for side, header in headers if header.problem is None}
        if len(set(shapes.values())) > 1 and not any(header.in_space for _, header in headers):
            hints += (_to_fit(headers[0][1].shape, header.shape, side.role) for side, header in headers[1:])
            sizes.append(f"{name} is {' and '.join(f'{_size(own)} in {place!r}' for place, own in shapes.items())}")
    if sizes:
        said.append(f"{counted(len(sizes), 'image')} differ{'s' * (len(sizes) == 1)} in size: {_some(sizes)}")
    if broken:
        cannot = "file cannot" if len(broken) == 1 else "files cannot"
        said.append(f"{len(broken):,} {cannot} be used: {_some([str(x.problem).rstrip('.') for x in broken])}")
        hints += (x.hint for x in broken if x.hint is not None)
    if said:
        raise InputError(f"{'; '.join(said)}.", " ".join(dict.fromkeys(filter(None, hints))) or None)
    return frozenset(in_space)


def _to_fit(truth: tuple[int, ...], other: tuple[int, ...], role: Role) -> str:
    """Return how to bring an image to the size of the truth; nothing if it has it."""
    if other in ((), truth) or not truth:  # or if one of them could not be read
        return ""
    if len(other) == len(truth) + 1:
        return "an axis of length 1 goes by squeeze(); of a score for each class save the class, by argmax."
    if role == "weights":
        return "make weights at the size of the truth."
    return "bring predictions to the size of the truth; labels are resized without interpolation (nearest)."


BY_NAME = (
    "files belong together if their paths in the folders are the same but for the ending; if they differ in more, give "
    "patterns, whose * stands for the name: 'truth/*_labelIds.png' and 'pred/*_pred.png'."
)


def _size(shape: tuple[int, ...]) -> str:
    return " × ".join(map(str, shape))


# ---- the pass ------------------------------------------------------------------------------------------


def tabulate_images(
    folders: ImageFolders,
    rules: Rules,
    threads: int | None = None,
    progress: bool | None = None,
    by: Any = None,
    cluster: Any = None,
    area: Area | None = None,
) -> Any:
    """Tabulate images, which are clusters; ``by`` and ``cluster`` give keys of images by their names.

    Each thread reads an image and tabulates it, so that memory holds as many images as there are threads. Sums are
    exact, so the table is that of all pixels together, to the last bit. GeoTIFFs are read as rasters, maybe in blocks
    and weighted by ``area``.
    """
    names = folders.names
    groups = _keys(by, "by", names)
    if folders.in_space:
        from .rasters import tabulate_rasters

        clusters = (
            cluster if isinstance(cluster, Blocks) else _keys(names if cluster is None else cluster, "cluster", names)
        )
        truths, preds, weights = folders.tiles()
        with quiet():
            return tabulate_rasters(
                truths, preds, area or weights, rules, folders.predictions,
                by=groups, cluster=clusters, threads=threads, progress=progress, names=names,
            )  # fmt: skip
    if isinstance(cluster, Blocks):
        raise InputTypeError(
            "`Blocks` does not work with folders of images that do not say where they lie.",
            "each image is a cluster.",
            "cluster",
        )
    if area:
        raise InputError(
            f"the areas of pixels are not known: none of the images says where it lies, such as {folders.paths[0]}.",
            "give GeoTIFFs, or a folder of weight maps.",
            "sample_weight",
        )
    clusters = _keys(names if cluster is None else cluster, "cluster", names)
    images = OfParts(rules, folders.predictions)

    def table_of(name: str) -> Any:
        files, (truth, preds, weight) = folders.files(name), folders.load(name)
        labels = zip(files, (truth, *preds), strict=False)
        columns = [label_column(own, path, 0, rules.skip_missing) for path, own in labels]
        return images.table(columns, weight, folders.weight_name(name), images.rules)

    tables: list[Any] = []
    workers = min(threads or processors(), len(names), MOST_THREADS)
    with quiet(), reading([FileSet(folders.paths, "images")], progress) as bar:
        bar.total(len(names))
        for k, table in enumerate(in_order(table_of, names, workers)):
            tables.append(of_one_item(table, k, groups, clusters))
            bar.advance(1)
    return folded(tables, rules)


def _keys(given: Any, argument: str, names: Sequence[str]) -> Keyed | None:
    """Keys of images: of a mapping from their names, of a function of the name, or the folders that they are in."""
    if given is None:
        return None
    by_folder = isinstance(given, str) and given == FOLDER
    if by_folder or given is names:
        keys = [os.path.dirname(name) or "." if by_folder else name for name in names]
        found = keys_of_rows(keys, argument, (len(names),))
        return found._replace(by=FOLDER) if by_folder and found is not None else found
    if not (isinstance(given, Mapping) or callable(given)):
        raise InputTypeError(
            f"{argument} is {brief(given)}; with folders of images expected 'folder', a mapping from names of images, "
            "or a function of the name.",
            argument=argument,
        )
    hint = "images are named by their path in the folder without the ending, or by what the * stands for."
    return keys_by_name(given, argument, names, "image", hint)
