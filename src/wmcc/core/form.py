"""What the stored form of tables has: types, of which its JSON Schema is made. `wmcc.core.storage` writes and reads it.

Numbers that are exact, a `Fraction` here, are written as ``0x<integer>p<exponent>``.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Annotated, Literal, NotRequired, TypedDict

from ..present.stored import Fields
from .design import Freedom, Kind, ReplicateFactors, StratifiedDesign
from .keys import Key
from .labels import Label

JOINT = re.compile("^pred_[0-9]+$")
"""Names of the columns of the predictions of a joint table."""


HEAD = ("schema", Literal[1])
"""The version of a table that is stored in another object."""


class StoredCells(TypedDict):
    """The cells that occur, column by column: places of their labels and other keys, and sums.

    Parameters
    ----------
    n, w, w2
        Rows, and the sums of their weights and of the squares of these, rounded; null beyond float64.
    w_exact, w2_exact
        The same, exactly: an integer times a power of two.
    replicates
        The sums of each replicate weight, of all cells.
    """

    true: list[int]
    poststratum: NotRequired[list[int]]
    cluster: NotRequired[list[int]]
    stratum: NotRequired[list[int]]
    n: list[int]
    w: list[float]
    w2: list[float]
    w_min: list[float]
    w_max: list[float]
    w_exact: list[Fraction]
    w2_exact: list[Fraction]
    replicates: NotRequired[list[list[Fraction]]]


OF_DF = ("df", NotRequired[Freedom])
"""The degrees of freedom of a design are stored where they are not those that unevenness leaves."""


class StoredSample(TypedDict):
    """What is stored of a table or of tables, beside its cells.

    Parameters
    ----------
    labels, void
        Classes, and after them labels that are no classes; the latter once more.
    drawn
        How the rows were drawn.
    clusters
        Keys of the clusters.
    replicates
        Replicate weights.
    design
        How rows or clusters were drawn in strata; ``units`` are the keys of the last axis of the cells, and ``rows``
        how many rows were drawn in each.
    """

    labels: list[Label]
    void: list[Label]
    drawn: Kind | Literal["pixels"]
    clusters: NotRequired[list[Key]]
    replicates: NotRequired[ReplicateFactors]
    design: NotRequired[Annotated[Fields, ("units", list[Key]), ("rows", list[int]), StratifiedDesign, OF_DF]]


class OfTable(TypedDict):
    """What is stored of a table.

    Parameters
    ----------
    positive
        The positive class, if one was named.
    ignored
        Rows that were left out.
    """

    positive: Label | None
    ignored: int
    cells: Annotated[Fields, StoredCells, ("pred", list[int])]


class OfJointTable(TypedDict):
    """What is stored of a joint table.

    Parameters
    ----------
    names
        Of the predictions.
    ignored
        Rows that were left out.
    """

    names: list[str]
    ignored: int
    cells: Annotated[Fields, StoredCells, (JOINT, list[int])]


class OfTables(TypedDict):
    """What is stored of tables of groups, of one kind or the other.

    Parameters
    ----------
    positive, names
        As of one table.
    ignored
        Rows that were left out of each group.
    by
        What rows are grouped by: a name, or several.
    groups
        The key of each group.
    same_classes, declared
        Whether each group has all labels; and classes that a group has beside those that occur in it.
    """

    kind: Literal["tables", "joint tables"]
    positive: NotRequired[Label | None]
    names: NotRequired[list[str]]
    ignored: list[int]
    by: str | int | list[str | int]
    groups: list[Key]
    same_classes: bool
    declared: Annotated[Fields, ("group", list[int]), ("class", list[int])]
    cells: Annotated[Fields, ("group", list[int]), StoredCells, ("pred", NotRequired[list[int]]), (JOINT, list[int])]


class OfScores(TypedDict):
    """What is stored of a score table.

    Parameters
    ----------
    edges
        Thresholds between which scores were put together, as hexadecimal numbers; null if all scores are kept.
    names
        Of the scores, if there are several.
    tables
        The rows of each step: tables of groups, whose keys are scores. Their predicted class is the true one.
    """

    edges: list[str] | None
    names: list[str]
    tables: Annotated[Fields, HEAD, StoredSample, OfTables]


StoredTable = Annotated[Fields, StoredSample, OfTable]
StoredJointTable = Annotated[Fields, StoredSample, OfJointTable]
StoredTables = Annotated[Fields, StoredSample, OfTables]
StoredScoreTable = Annotated[Fields, OfScores]
StoredClassScores = Annotated[
    Fields,
    ("table", Annotated[Fields, HEAD, ("kind", Literal["table"]), StoredSample, OfTable]),
    ("scores", list[tuple[Label, Annotated[Fields, HEAD, ("kind", Literal["score table"]), OfScores]]]),
]
