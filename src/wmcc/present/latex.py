"""Blocks as tables of LaTeX, with the rules of the package booktabs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from .blocks import Block
from .text import visible

SIGNS = {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    **{sign: rf"\{sign}" for sign in "&%$#_{}"},
    "−": "$-$", "±": r"$\pm$", "ε": r"$\varepsilon$", "Σ": r"$\Sigma$", "†": r"\dag{}", "—": "---", "…": r"\dots{}",
    "<": "$<$", ">": "$>$", "≤": r"$\leq$", "≥": r"$\geq$",
}  # fmt: skip
"""What stands for characters that LaTeX takes for commands, or that its fonts lack."""


def latex(blocks: Iterable[Block]) -> str:
    r"""Write a table for each block.

    Examples
    --------
    >>> print(latex([Block("Scores", ["Measure", "Value"], [["R_K", "-0.5"]])]), end="")
    % needs \usepackage{booktabs}
    \begin{table}
      \caption{Scores}
      \begin{tabular}{lr}
        \toprule
        Measure & Value \\
        \midrule
        R\_K & $-$0.5 \\
        \bottomrule
      \end{tabular}
    \end{table}
    """
    return "\n".join([r"% needs \usepackage{booktabs}", *(line for block in blocks for line in _lines(block))]) + "\n"


def escaped(text: str) -> str:
    """A text in which nothing is a command; a hyphen before a number is a minus."""
    text = re.sub(r"(?<!\S)-(?=\d)", "−", visible(re.sub(r"[\r\n]+", " ", text)))
    return "".join(SIGNS.get(character, character) for character in text)


def _lines(block: Block) -> list[str]:
    notes = list(map(escaped, block.notes))
    if not block.columns:
        return [*([escaped(block.title)] if block.title else []), *notes]
    sides = "l" * block.texts + "r" * (block.columns - block.texts)
    head = [_row(block.head), r"    \midrule"] if block.head else []
    caption = [rf"  \caption{{{escaped(block.title)}}}"] if block.title else []
    top = [r"\begin{table}", *caption, rf"  \begin{{tabular}}{{{sides}}}", r"    \toprule", *head]
    bottom = [r"    \bottomrule", r"  \end{tabular}", *(rf"  \par\footnotesize {note}" for note in notes)]
    return [*top, *map(_row, block.rows), *bottom, r"\end{table}"]


def _row(cells: Sequence[str]) -> str:
    return rf"    {' & '.join(map(escaped, cells))} \\"
