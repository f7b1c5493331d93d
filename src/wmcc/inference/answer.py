"""What intervals and comparisons have in common: an answer, or the reason why there is none."""

from __future__ import annotations

from ..present.text import decimal, html


class Answer:
    """An answer that knows how far it can be relied on."""

    low: float
    high: float
    warnings: tuple[str, ...]
    problem: str | None

    @property
    def reliable(self) -> bool:
        """Whether there is an answer, and no warning."""
        return self.problem is None and not self.warnings

    @property
    def status(self) -> str:
        """``"reliable"``, ``"unreliable"`` or ``"not estimable"``."""
        return "not estimable" if self.problem else "unreliable" if self.warnings else "reliable"

    @property
    def ends(self) -> str:
        """The ends for a table of numbers, with an asterisk where there is a warning or a problem."""
        if self.problem:
            return "not estimable *"
        return f"{decimal(self.low)} to {decimal(self.high)}" + " *" * bool(self.warnings)

    def _sentences(self) -> list[str]:
        """Return what was found, in lines."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return "\n".join([*self._sentences(), *(f"unreliable: {why}" for why in self.warnings)])

    def _repr_html_(self) -> str:
        return html({}, repr(self).splitlines())
