"""One result per group of rows, shown and stored together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..errors import InputError, WmccError
from .blocks import Block, few, stacked
from .json_csv import Record, beside, columns, plain
from .result import Result
from .text import name_of

Key = tuple[Any, ...]


class Group(NamedTuple):
    """What is stored of a group: its key, with a value for each column, and its result or why there is none."""

    key: tuple[Any, ...]
    result: dict[str, Any] | None
    problem: str | None


@dataclass(frozen=True, repr=False)
class Groups(Result):
    """Results by group, such as `wmcc.score` makes of tables by group; ``found[key]`` is that of one.

    Parameters
    ----------
    by
        Names of the columns that rows were grouped by.
    results
        By key, which has a value for each of them: a result, or the sentence that says why there is none.
    """

    by: tuple[str, ...]
    results: Mapping[Key, Result | str]

    _kind = "groups"
    _stored = ("by", "groups")

    @classmethod
    def of(
        cls,
        tables: Any,
        ask: Callable[[Any], Result],
        noted: tuple[type[WmccError], ...] = (InputError,),
        around: Callable[[str], AbstractContextManager[Any]] = nullcontext,
    ) -> Groups:
        """Ask about each table of several, by its key.

        A group without an answer is noted if the reason is one of ``noted``, and is no end to the others; if no group
        has one, the last reason is raised. Each is asked within what ``around`` makes of the group's title.
        """
        results: dict[Key, Result | str] = {}
        last: WmccError | None = None
        for key in tables:
            named, title = key if isinstance(tables.by, tuple) else (key,), tables.title(key)
            try:
                with around(f"{title}: "):
                    results[named] = ask(key)
            except WmccError as problem:
                results[named], last = problem.message, problem.about(title)
                if not isinstance(problem, noted):
                    raise last from None
        if last is not None and all(isinstance(one, str) for one in results.values()):
            raise last
        return cls(tuple(map(str, tables.columns)), results)

    def __getitem__(self, key: Any) -> Any:
        found = self.results.get(key if isinstance(key, tuple) else (key,))
        if isinstance(found, Result):
            return found
        if found is not None:
            raise InputError(f"{self.title(key if isinstance(key, tuple) else (key,))}: {found}")
        first = ", ".join(repr(own if len(own) > 1 else own[0]) for own in list(self.results)[:5])
        raise InputError(f"there is no group {key!r}; the first are {first}.")

    def title(self, key: Key) -> str:
        """Name a group: ``region = coast``."""
        return ", ".join(f"{name} = {name_of(x)}" for name, x in zip(self.by, key, strict=True))

    def blocks(self) -> list[Block]:
        """Return a line or a few for each group, under common heads, and what is to be noted of each."""
        lines = {key: [] if isinstance(found, str) else found.lines() for key, found in self.results.items()}
        made = stacked([(list(map(name_of, key)), own) for key, own in lines.items()], self.by)
        said: dict[str, list[str]] = {}
        for key, found in self.results.items():
            notes = [found] if isinstance(found, str) else [note for block in lines[key] for note in block.notes]
            for note in dict.fromkeys(notes):
                said.setdefault(note, []).append(self.title(key))
        common = [note for note, of in said.items() if 1 < len(lines) == len(of)]  # first, lest one seem a group's own
        notes = common + [f"{'; '.join(of)}: {note}" for note, of in said.items() if note not in common]
        return [*made, Block(notes=few(notes))] if notes else made

    @property
    def groups(self) -> list[Group]:
        """Each group with its key, and with its result or the problem."""
        stored = {key: (None, x) if isinstance(x, str) else (x.to_dict(), None) for key, x in self.results.items()}
        return [Group(tuple(map(_key, key)), *own) for key, own in stored.items()]

    def _heads(self) -> list[str]:
        return list(self.by)

    def records(self) -> list[Record]:
        """Return the rows of all groups; columns of the key come first."""
        rows = {k: [{"problem": x}] if isinstance(x, str) else x.records() for k, x in self.results.items()}
        whole = [own for key, own in rows.items() if not isinstance(self.results[key], str)]
        empty = dict.fromkeys(columns([row for own in (*whole, *rows.values()) for row in own]))
        keyed = ((dict(zip(self.by, key, strict=True)), own) for key, own in rows.items())
        return [row for key, own in keyed for row in beside(key, [{**empty, **row} for row in own])]


def _key(value: Any) -> Any:
    """A value of a key, as stored tables have it: JSON has no infinite numbers."""
    return {"float": repr(value)} if isinstance(value, float) and plain(value) is None else value
