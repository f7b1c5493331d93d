"""The library's sentences in the words of the command line: options in place of parameters."""

from __future__ import annotations

import re
from shlex import quote

OPTIONS = {
    "confidence_level": "confidence", "zero_division": "zero-division", "at_least": "at-least", "at_most": "at-most",
    "caps": "cap", "pixel_area": "pixel-area", "n": "rows", "weight_map": "weight-map", "sample_weight": "weights",
    "overlay_layer": "overlay-layer",
}  # fmt: skip
"""Options that are called otherwise than the library's parameters."""

MAPS = {
    r"tabulate\('truth.tif', 'map.tif'\)|tabulate\(truth, map\)": "truth.tif map.tif",
    r"xy=\('(\w+)', '(\w+)'\)": r"--xy \1,\2",
    r"wmcc\.raster\([^()]*\bcrs=('[^']*')\)": r"crs=\1",
    r"open the raster with wmcc\.raster\('?([^()']*)'?, nodata=None\)": (
        r"take the nodata value off the file: `rio edit-info --unset-nodata \1`"
    ),
    r"wmcc\.raster\(path, nodata=None\)": "a file without a nodata value (`rio edit-info --unset-nodata FILE`)",
    r"given as wmcc\.raster\(\.\.\., nodata=…\)": "declared by `rio edit-info --nodata N FILE`",
    r"say which with wmcc\.raster\([^()]*variable=…\)": (
        "write that which is meant to a file of its own: xarray.open_dataset(FILE)[[NAME]].to_netcdf(NEW)"
    ),
}
"""What the library says of maps, by what the command line has in its place; ``rio`` comes with rasterio."""

READ = r"read it with pandas\.read_csv\(…, sep='{}'\), with decimal=',' if its numbers have commas, and pass the frame"
SEPARATED = {
    READ.format(r"([;|])"): (
        r"`tr '\1' '\\t' <FILE >NEW.tsv` writes it with tabs, which is read; if its numbers have commas, "
        r"`tr '\1,' '\\t.' <FILE >NEW.tsv`"
    ),
    READ.format(r"\\t"): "give it a name that ends with .tsv",
    READ.format(","): "give it a name that ends with .csv",
}
"""What the library says of text whose fields are separated otherwise than by commas, and what can be done here."""

_KEYWORD = re.compile(
    r"\b(true|pred|weight|by|cluster|stratum|population|fpc|lonely|poststratum|totals|replicates|method|scales|fay|df|"
    r"on|join|unmatched|labels|names|ignore|missing|positive|engine|measure|eps|nodes|at_least|at_most|change|terms|"
    r"of|se|n|allocation|overlay|overlay_layer|uncovered|sliver|layer|crs|area|unit|band|align|blocks|xy)="
    r"(?:(['\"])([^'\"]*)\2|(-?\d+))?(?=[\s.,;:()]|$)"
)
"""A parameter of the library in a sentence, with a text that it is given or without: ``missing='ignore'``."""


def in_options(sentence: str) -> str:
    """Put the library's parameters as options are written.

    Examples
    --------
    >>> in_options("give cluster=, or missing='ignore'; model='absolute' takes an amount.")
    'give --cluster, or --missing ignore; --absolute takes an amount.'
    >>> in_options("for instance of=7.")
    'for instance --of 7.'
    >>> in_options("choose one with band=; for this raster alone with wmcc.raster('a.tif', band=1).")
    "choose one with --band; for this raster alone in Python, with wmcc.raster('a.tif', band=1)."
    """
    sentence = re.sub(r"\bwmcc\.(ecc|mpc1|mpc2)\b", r"--measure \1", sentence)
    sentence = re.sub(r"model=(['\"])(relative|absolute)\1", r"--\2", sentence)
    sentence = re.sub(r"\bfpc=True(?= needs| takes)", "--fpc", sentence).replace("fpc=True", "--fpc population")
    sentence = sentence.replace("with the same keywords", "with the same options")
    sentence = sentence.replace(
        " and the zone or image of each pixel; a Tally takes per_image=True", " and a raster of zones"
    )
    sentence = re.sub(r", for instance \w+=\{[^}]*\}", "", sentence)
    sentence = sentence.replace(
        "use wmcc.Accumulator", "store each part with `wmcc tabulate -o` and add them up with `wmcc merge`"
    )
    sentence = sentence.replace("tabulate('truth/', 'pred/', 'maps/')", "--images truth/ pred/ --weights maps/")
    for pattern, words in {**MAPS, **SEPARATED}.items():
        sentence = re.sub(pattern, words, sentence)
    sentence = sentence.replace(
        "name the image of each row: wmcc.tabulate(y_true, y_pred, sample_weight, cluster=image)",
        "name the column of images with --cluster; of rasters, --blocks 64 takes blocks of pixels for images",
    )
    sentence = re.sub(r"sample_weight=wmcc\.weightmaps\.(\w+)", r"--weight-map \1", sentence)
    sentence = re.sub(r"with (?=wmcc\.raster\()", "in Python, with ", sentence)
    parts = re.split(r"(wmcc\.raster\([^)]*\))", sentence)  # calls stay as they are
    parts[::2] = [_KEYWORD.sub(_option, part).replace("--labels(", "--labels (") for part in parts[::2]]
    return "".join(parts)


def _option(found: re.Match[str]) -> str:
    name, _, text, number = found.groups()
    value = number if text is None else text
    return f"--{OPTIONS.get(name, name)}" + ("" if value is None else f" {quote(value)}")
