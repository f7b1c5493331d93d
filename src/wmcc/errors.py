"""Everything wmcc raises or warns with.

::

    WmccError
    ├── InputError (ValueError)            lengths, shapes, no rows, total weight zero
    │   ├── LabelError                     a missing, fractional or unknown label
    │   ├── WeightError                    a negative, NaN or infinite weight
    │   └── TooManyClassesError            a table that would not fit
    ├── InputTypeError (TypeError)         a label, weight or container of a kind wmcc does not take
    ├── UndefinedMeasureError (ValueError) a zero denominator, where the caller asked for an error
    ├── SchemaError (ValueError)           a stored table that cannot be read
    └── MissingDependencyError (ImportError)

    UndefinedMeasureWarning (UserWarning)  the same, where the caller asked for a warning
    LabelWarning (UserWarning)             labels that may not mean what they are taken for
    MapWarning (UserWarning)               something of a layer or a raster that was repaired or left out

Every message says what was expected, what came (value and row), and, after ``Hint:``, what to do. It is safe to print:
what a file, a column or a label is called may hold characters that move a terminal's cursor, and these are shown as
escapes.
"""

from __future__ import annotations

import difflib
import errno
import os
import re
import sys
import warnings
from collections.abc import Sequence
from typing import Any, Self

from .present.text import brief, visible


class WmccError(Exception):
    """Base class of wmcc's errors.

    Parameters
    ----------
    message
        What was expected and what came.
    hint
        What to do about it.
    argument
        Name of the parameter that it is about.
    shell
        The hint on the command line, where ``hint`` is a call of Python.

    Attributes
    ----------
    message, hint, argument, shell
        The same, each on one line; None where there is none.
    """

    def __init__(
        self, message: str, hint: str | None = None, argument: str | None = None, shell: str | None = None
    ) -> None:
        self.message: str = _line(message)
        self.hint: str | None = None if hint is None else _line(hint)
        self.argument: str | None = argument
        self.shell: str | None = shell
        super().__init__(self.message if self.hint is None else f"{self.message}\n\nHint: {self.hint}")

    @classmethod
    def of(cls, argument: str, given: object, expected: str, hint: str | None = None) -> Self:
        """Return the error that a parameter is not as expected.

        Examples
        --------
        >>> raise InputError.of("eps", 1.5, "a share of the weights", "10 % is 0.1.")
        Traceback (most recent call last):
            ...
        wmcc.errors.InputError: `eps` is 1.5; expected a share of the weights.
        <BLANKLINE>
        Hint: 10 % is 0.1.
        """
        return cls(f"`{argument}` is {brief(given)}; expected {expected}.", hint, argument)

    def about(self, part: str, hint: str | None = None) -> Self:
        """Return the same error about a part of what was given, such as a file or a group.

        ``hint`` stands in where the error has none.

        Examples
        --------
        >>> raise InputError("there are no rows.").about("standard input")
        Traceback (most recent call last):
            ...
        wmcc.errors.InputError: standard input: there are no rows.
        """
        hint = hint if self.hint is None else self.hint
        return type(self)(f"{part}: {self.message}", hint, self.argument, self.shell)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.message, self.hint, self.argument, self.shell)


def _line(text: str) -> str:
    """A text on one line, with nothing in it that moves a cursor."""
    return visible(re.sub(r"[ \t\r]*\n\s*", " ", text.strip()))


class InputError(WmccError, ValueError):
    """The data do not fit together or hold a value that cannot be scored."""


class LabelError(InputError):
    """A label is missing, fractional or not among ``labels``."""


class WeightError(InputError):
    """A weight is negative, NaN or infinite."""


class TooManyClassesError(InputError):
    """The K x K table would be too large."""


class InputTypeError(WmccError, TypeError):
    """A label, a weight or a container is of a kind that wmcc does not take."""


class UndefinedMeasureError(WmccError, ValueError):
    """A measure has a zero denominator and the caller asked for an error."""


class SchemaError(WmccError, ValueError):
    """A stored table cannot be read."""


class MissingDependencyError(WmccError, ImportError):
    """An optional package is needed and not installed."""


SYNONYMS = {
    "weights": ("sample_weight", "weight"), "pos_label": ("positive",), "num_classes": ("labels",),
    "n_classes": ("labels",), "classes": ("labels",), "class_names": ("names",), "target_names": ("names",),
    "ignore_index": ("ignore",), "dropna": ("missing",), "skipna": ("missing",), "groups": ("by",), "groupby": ("by",),
    "psu": ("cluster",), "psus": ("cluster",), "ids": ("cluster",), "clusters": ("cluster",), "strata": ("stratum",),
    "strat": ("stratum",), "strat_id": ("stratum",), "repweights": ("replicates",), "rep_weights": ("replicates",),
    "replicate_weights": ("replicates",), "type": ("method",), "rscales": ("scales",), "rho": ("fay",),
    "fay_coef": ("fay",), "degf": ("df",), "lonely_psu": ("lonely",), "singleunit": ("lonely",),
    "sizes": ("population",), "nest": ("nested",), "poststrata": ("poststratum",),
    "margins": ("totals",), "control_totals": ("totals",),
}  # fmt: skip
"""What keywords of other libraries are here."""


def unknown_keyword(function: str, name: str, known: Sequence[str]) -> InputTypeError:
    """Return the error of a keyword that a function does not have; it names the one that may be meant.

    Examples
    --------
    >>> unknown_keyword("tabulate()", "pos_label", ["positive", "labels"]).hint
    'did you mean `positive`?'
    """
    meant = [x for x in SYNONYMS.get(name, ()) if x in known]
    if not meant and name not in SYNONYMS:
        meant = difflib.get_close_matches(name, known, 1, 0.7)
    named = ", or ".join(f"`{x}`" for x in meant)
    hint = f"did you mean {named}?" if meant else f"its keywords are {', '.join(known)}."
    if name == "margin" and "se" in known:
        hint = "give `se`, the standard error that is wanted: the margin of a 95 % interval is about twice as much."
    if "cluster" in SYNONYMS.get(name, (name,)) and "cluster" not in known:
        hint = "clusters are given to tabulate itself: tabulate(…, cluster=…, design=wmcc.Strata(…))."
    if "y_true" in known and name in ("average", "normalize", "threshold", "zero_division", "beta"):
        hint = f"{name} is no option of reading data; {hint}"
    return InputTypeError(f"{function} has no keyword {name!r}.", hint)


def missing_file(name: str, what: str = "file") -> InputError:
    """Return the error of a file, or what else it is, that is not there; it names the one that may be meant."""
    if os.path.islink(name):
        try:
            loop = os.stat(name) is None
        except OSError as problem:
            loop = problem.errno == errno.ELOOP
        return InputError(
            f"{name!r} is a link that leads back to itself, not to a file."
            if loop
            else f"{name!r} is a link to {os.readlink(name)!r}, and there is no such file.",
            "repair the link, or give the file itself.",
        )
    folder, base = os.path.split(name)
    near = difflib.get_close_matches(base, os.listdir(folder or ".") if os.path.isdir(folder or ".") else [], 1)
    return InputError(
        f"there is no {what} {name!r}.", f"did you mean {os.path.join(folder, near[0])!r}?" if near else None
    )


def missing_column(
    name: Any,
    names: Sequence[Any],
    where: str | None = None,
    hint: str | None = None,
    argument: str | None = None,
    shell: str | None = None,
) -> InputError:
    """Return the error of a column that is not there; it names the one that may be meant, unless there is a hint."""
    texts = [str(x) for x in names]  # pandas has integers for names too, and 0 is not "0"
    close = difflib.get_close_matches(str(name), texts, 1) or [x for x in texts if x.lower() == str(name).lower()]
    near = [names[texts.index(x)] for x in close]
    shown = ", ".join(map(repr, names[:20])) + (f", … ({len(names)} in all)" if len(names) > 20 else "")
    if hint is None and near:
        hint = f"did you mean {near[0]!r}?"
    if hint is None and str(name).lower() == "area":
        hint = "`weight` 'area' is the area of polygons: of a GeoDataFrame, or of a file such as a GeoPackage."
    there = f"the columns are {shown}" if names else "there are no columns"
    return InputError(f"there is no column {name!r}{f' in {where}' if where else ''}; {there}.", hint, argument, shell)


class LabelWarning(UserWarning):
    """Labels may not mean what they are taken for.

    A class has a name that often stands for missing labels: ``NA``, ``nan``, ``None``, ``null``, or nothing. An ignored
    label is predicted and never true, or the strata of the sample are its true classes, as when truth and prediction
    are swapped. No label is both true and predicted. Columns of 0 and 1 look like several outputs, which are counted
    together. Or a threshold lies beyond all scores.
    """


class MapWarning(UserWarning):
    """Something of a layer or a raster was repaired or left out, or may not be meant as it was taken."""


class UndefinedMeasureWarning(UserWarning):
    """A measure has a zero denominator and the caller asked for a warning."""


def warn(message: str, category: type[Warning] = LabelWarning) -> None:
    """Warn at the line outside of wmcc that the call came from, so that a loop warns once."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("wmcc."):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
