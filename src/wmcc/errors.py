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

Every message says what was expected, what came (value and row), and, after ``Hint:``, what to do. It is safe to print:
what a file, a column or a label is called may hold characters that move a terminal's cursor, and these are shown as
escapes.
"""

from __future__ import annotations

import re

from .present.text import visible

_HINT = "\n\nHint: "


class WmccError(Exception):
    """Base class of wmcc's errors.

    Parameters
    ----------
    message
        What was expected and what came. It may be the text of another such error with something before it, as in
        ``f"{path}: {problem}"``; its hint is then the hint of this one.
    hint
        What to do about it.

    Attributes
    ----------
    message, hint
        The same, each on one line; the hint is None if there is none.
    """

    def __init__(self, message: str, hint: str | None = None) -> None:
        if hint is None and _HINT in message:
            message, _, hint = message.rpartition(_HINT)
        self.message = _line(message)
        self.hint = None if hint is None else _line(hint)
        super().__init__(self.message if self.hint is None else f"{self.message}{_HINT}{self.hint}")


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


class UndefinedMeasureWarning(UserWarning):
    """A measure has a zero denominator and the caller asked for a warning."""
