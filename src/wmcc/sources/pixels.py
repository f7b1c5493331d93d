"""One image file as an array of the numbers that it stores: labels or weights, never colours and never scaled."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal, NamedTuple

import numpy as np

from .. import optional
from ..core.arraytypes import Array
from ..errors import InputError, WmccError
from .columns import weight_array

Role = Literal["labels", "weights"]

FORMATS = {".png": "PNG", ".tif": "TIFF", ".tiff": "TIFF", ".npy": "NPY"}
"""Images that are read, by the end of their names."""

LOSSY = ".jpg .jpeg .jpe .jfif .webp .jp2 .j2k .jpx .heic .avif"
OTHERS = f"{LOSSY} .gif .bmp .dib .ppm .pgm .pbm .pnm .tga .exr .hdr .npz .mat .h5 .nii .nii.gz .mha .nrrd .dcm .zarr"
"""Images, and arrays, that are not read."""

GREY = {"1", "L", "I", "I;16", "I;16B", "I;16L", "I;16N", "F"}
"""Modes of Pillow with one number per pixel, which is what it says. Those of a palette are P."""

TIFF_BITS, TIFF_COMPRESSION, PHOTOMETRIC, TIFF_SAMPLE_FORMAT = 258, 259, 262, 339
ORIENTATION, JPEG_IN_TIFF = 274, (6, 7)
IN_SPACE = (33550, 33922, 34264, 34735, 42113)
"""Tags of TIFF files that say where they lie, or which number is nodata."""
PNG_BITS = 24
"""Where a PNG file says how many bits a number has."""

BEGINNINGS = {b"\x89PNG": "PNG", b"\xff\xd8\xff": "JPEG", b"II": "TIFF", b"MM": "TIFF", b"\x93NUMPY": "NPY"}
"""How files of a kind begin."""


class Header(NamedTuple):
    """What the beginning of a file says: the shape of the image, or why it cannot be used, and what to do.

    ``in_space`` of a GeoTIFF, which says where it lies or which number is nodata.
    """

    shape: tuple[int, ...] = ()
    problem: str | None = None
    hint: str | None = None
    in_space: bool = False


def ending(name: str) -> str:
    """The end of a name, if it is that of an image or of an array; else nothing."""
    low = name.lower()
    known = (low[-len(end) :] for end in (*FORMATS, *OTHERS.split()) if low.endswith(end))
    return next(known, "")


def read_header(path: str, role: Role) -> Header:
    """Look at the beginning of a file."""
    try:
        if FORMATS[ending(path)] == "NPY":
            return Header(_load(path, role, "r").shape)
        if _in_space(path):
            from ..geo.raster import Raster

            return Header(Raster(path).shape, in_space=True)
        with _opened(path, role) as (image, _):
            return Header(image.size[::-1])
    except InputError as problem:
        return Header((), problem.message, problem.hint)


def read_image(path: str, role: Role) -> Array:
    """Return the numbers of an image."""
    if FORMATS[ending(path)] == "NPY":
        return _load(path, role)
    with _opened(path, role) as (image, bits):
        values: Array = np.asarray(image)
        if image.mode == "L" and bits in (2, 4):  # which Pillow stretches to 0 … 255
            return values // (255 // ((1 << bits) - 1))
        if image.mode == "1":
            values = (values.view(np.uint8) != 0).astype(np.uint8)  # Pillow's booleans have other bytes than 1
        if image.format == "TIFF" and values.dtype.kind in "iu":
            signed = image.tag_v2.get(TIFF_SAMPLE_FORMAT, (1,))[0] == 2
            if (image.mode, signed) in (("L", True), ("I", False)) and bits == 8 * values.dtype.itemsize:
                return values.view(f"{'i' if signed else 'u'}{values.dtype.itemsize}")
        return values


def weights_of(function: Callable[[Array], Any], labels: Array, name: str) -> Array:
    """Return the weights that a function makes of a label map, which is called ``name``."""
    try:
        made = function(labels.copy())  # which it may change
    except WmccError as problem:
        raise problem.about(name) from None
    except Exception as problem:
        problem.add_note(f"This happened when sample_weight was called with the label map of {name}.")
        raise
    return weight_array(made, f"the weight map made of {name}")


def _refuse(path: str, problem: str | None, hint: str | None) -> None:
    if problem is not None:
        raise InputError(f"{path} {problem}", hint)


# ---- NPY ---------------------------------------------------------------------------------------------


def _load(path: str, role: Role, mmap_mode: Literal["r"] | None = None) -> Array:
    try:
        found: Array = np.load(path, mmap_mode=mmap_mode, allow_pickle=False)
    except OSError as problem:
        raise _unreadable(path, problem) from None
    except (ValueError, EOFError, SyntaxError):  # what NumPy says of a damaged file depends on where it ends
        raise InputError(
            f"{path} cannot be read: it is no NPY file, is damaged, or holds Python objects.",
            "write it again with numpy.save, as an array of numbers.",
        ) from None
    _refuse(path, *_wrong_array(found, role))
    return found


def _wrong_array(array: Array, role: Role) -> tuple[str | None, str | None]:
    kinds = "biuf" if role == "weights" else "biufUS"
    if array.dtype.kind in kinds and array.ndim:
        return None, None
    what = f"an array of dtype {array.dtype}" if array.ndim else "a single value"
    return f"holds {what}; expected {_expected(role)}.", f"save it with {SAVE[role]}."


SAVE = {
    "labels": "numpy.save(path, labels), where labels is an array of integers",
    "weights": "numpy.save(path, weights), where weights is an array of floats",
}


def _expected(role: Role) -> str:
    return "one class number per pixel" if role == "labels" else "one weight per pixel"


# ---- PNG and TIFF --------------------------------------------------------------------------------------


@contextmanager
def quiet() -> Iterator[None]:
    """Keep Pillow from warnings of tags that nobody asks for; not to be entered by several threads at once."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module=r"PIL\.")
        yield


@contextmanager
def _opened(path: str, role: Role) -> Iterator[tuple[Any, int]]:
    """Open an image with Pillow, and say how many bits a number has in the file.

    Pillow's limit of pixels is not asked, since label maps of satellites are large.
    """
    kind = FORMATS[ending(path)]
    plugin = optional.module("PIL.PngImagePlugin" if kind == "PNG" else "PIL.TiffImagePlugin")
    try:
        with open(path, "rb") as file:
            head = file.read(PNG_BITS + 1)
            found = next((own for start, own in BEGINNINGS.items() if head.startswith(start)), kind)
            if found != kind:
                hint = AFTER_JPEG if found == "JPEG" else f"rename it: {found} files end with .{found.lower()}."
                raise InputError(f"{path} has the format {found}, though its name ends with {ending(path)}.", hint)
            file.seek(0)
            with (plugin.PngImageFile if kind == "PNG" else plugin.TiffImageFile)(file, path) as image:
                _refuse(path, *_wrong_image(image, role))
                yield image, head[PNG_BITS] if kind == "PNG" else int(image.tag_v2.get(TIFF_BITS, (1,))[0])
    except WmccError:
        raise
    except OSError as problem:
        raise (_damaged(path, kind, problem) if problem.errno is None else _unreadable(path, problem)) from None
    except BAD_FILE as problem:  # Pillow says by many names that a file is not as it should be
        raise _damaged(path, kind, problem) from None


BAD_FILE = SyntaxError, ValueError, EOFError, KeyError, TypeError, IndexError, RuntimeError, ArithmeticError


def _in_space(path: str) -> bool:
    """Whether a file is a GeoTIFF. What is no TIFF file is not, whatever its name."""
    if FORMATS[ending(path)] != "TIFF":
        return False
    plugin = optional.module("PIL.TiffImagePlugin")
    try:
        with open(path, "rb") as file:
            head = file.read(8)
            if head[2:3] == b"+" or head[3:4] == b"+":  # files of more than 4 GB have a longer one
                head += file.read(8)
            tags = plugin.ImageFileDirectory_v2(head)
            file.seek(tags.next)
            tags.load(file)
            return any(tag in tags for tag in IN_SPACE)
    except Exception:  # whatever is wrong with the file, Pillow says it when the image is opened
        return False


AFTER_JPEG = "JPEG changes numbers when it compresses; write the images again as PNG from the arrays they came from."


def _damaged(path: str, kind: str, problem: BaseException) -> InputError:
    said = str(problem).strip().rstrip(".") or type(problem).__name__
    wide = ", or has numbers of a kind that Pillow does not read, such as float64; NPY has all kinds"
    return InputError(
        f"{path} cannot be read as {kind}: {said[:200]}.",
        f"the file is cut off or damaged{wide if kind == 'TIFF' else ''}; write it again.",
    )


def _unreadable(path: str, problem: OSError) -> InputError:
    return InputError(f"{path} cannot be opened: {problem.strerror or problem}.")


def _wrong_image(image: Any, role: Role) -> tuple[str | None, str | None]:
    """Return why an image has no labels, or weights, and what to do about it."""
    if image.mode == "P" and role == "weights":
        return "has a palette, so that its numbers stand for colours; expected one weight per pixel.", USE_FLOATS
    if image.mode not in GREY and image.mode != "P":
        said = f"has {len(image.getbands())} channels ({image.mode}); expected {_expected(role)}."
        return said, USE_FLOATS if role == "weights" else USE_NUMBERS
    is_tiff = image.format == "TIFF"
    tags = image.tag_v2 if is_tiff else image.getexif() if "exif" in image.info else {}
    turned = tags.get(ORIENTATION, 1)
    wrong = {
        f"is to be turned or mirrored when it is shown (orientation {turned}), which not all programs do.": turned != 1,
        "stores white as 0, and programs disagree on what its numbers are.": is_tiff and tags.get(PHOTOMETRIC) == 0,
    }
    if is_tiff and tags.get(TIFF_COMPRESSION) in JPEG_IN_TIFF:
        return "is compressed as JPEG.", AFTER_JPEG
    if image.n_frames > 1:
        return f"has {image.n_frames} pages; expected one image.", "save each page as an image, or a volume as NPY."
    return next(((said, WRITE_AGAIN) for said, holds in wrong.items() if holds), (None, None))


WRITE_AGAIN = "write the array again, as PNG or NPY."
USE_FLOATS = f"save weights as float32 TIFF, or with {SAVE['weights']}."
USE_NUMBERS = (
    "save class numbers as grey or palette PNG, as PIL.Image.fromarray(labels.astype('uint8')).save(path); if colours "
    "stand for classes, make the numbers first: labels[(rgb == colour).all(axis=-1)] = number, for each colour."
)
