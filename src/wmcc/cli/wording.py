"""The library's sentences in the words of the command line: options in place of parameters."""

from __future__ import annotations

import re
from shlex import quote

OPTIONS = {
    "confidence_level": "confidence", "zero_division": "zero-division", "at_least": "at-least", "at_most": "at-most",
    "caps": "cap", "pixel_area": "pixel-area", "n": "rows", "weight_map": "weight-map", "sample_weight": "weights",
}  # fmt: skip
"""Options that are called otherwise than the library's parameters."""

_KEYWORD = re.compile(
    r"\b(true|pred|weight|by|cluster|stratum|population|fpc|lonely|poststratum|totals|replicates|method|scales|fay|df|"
    r"on|join|unmatched|labels|names|ignore|missing|positive|engine|measure|eps|nodes|at_least|at_most|change|terms|"
    r"of|se|n|allocation)="
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
    """
    sentence = re.sub(r"\bwmcc\.(ecc|mpc1|mpc2)\b", r"--measure \1", sentence)
    sentence = re.sub(r"model=(['\"])(relative|absolute)\1", r"--\2", sentence)
    sentence = re.sub(r"\bfpc=True(?= needs| takes)", "--fpc", sentence).replace("fpc=True", "--fpc population")
    sentence = sentence.replace("with the same keywords", "with the same options")
    sentence = re.sub(r", for instance \w+=\{[^}]*\}", "", sentence)
    sentence = sentence.replace(
        "use wmcc.Accumulator", "store each part with `wmcc tabulate -o` and add them up with `wmcc merge`"
    )
    sentence = sentence.replace("tabulate('truth/', 'pred/', 'maps/')", "--images truth/ pred/ --weights maps/")
    sentence = re.sub(r"sample_weight=wmcc\.weightmaps\.(\w+)", r"--weight-map \1", sentence)
    return _KEYWORD.sub(_option, sentence).replace("--labels(", "--labels (")


def _option(found: re.Match[str]) -> str:
    name, _, text, number = found.groups()
    value = number if text is None else text
    return f"--{OPTIONS.get(name, name)}" + ("" if value is None else f" {quote(value)}")
