"""A task's table: its columns, derived from parameters where they are some, and how it is made."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import partial, reduce
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from harness.declare.params import TYPES, ColumnType, Params, Scalar
from harness.declare.statistics import MissingRows
from harness.errors import SpecError

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

Role = Literal["param", "seed", "value", "measurement", "artifact"]
Frame: TypeAlias = "pd.DataFrame"
"""Rows, by a word that declarations may write: they import no pandas."""
Series: TypeAlias = "pd.Series[Any]"
"""A column of them."""
Tables = Mapping[str, Frame]


@dataclass(frozen=True, kw_only=True, slots=True)
class Column:
    """One column of a task's table."""

    name: str
    """Unit last, where there is one: `peak_bytes`, `step_ms`."""
    type: ColumnType
    role: Role
    """`measurement` marks what another run may change (times); the rest is byte-identical.
    `artifact` is an array as text, an image say: the CSV holds its digest alone."""
    doc: str
    """What it holds, for the report."""
    nullable: bool = False
    """Whether a row may lack it (a diverged loss)."""


Scalars = type[int] | type[float] | type[str] | type[bool]


def _declared(role: Role, name: str, type: Scalars, doc: str, *, nullable: bool = False) -> Column:
    return Column(name=name, type=TYPES[type], role=role, doc=doc, nullable=nullable)


param = partial(_declared, "param")
"""A column that tells rows apart and is no parameter of the trials as it stands:
`param(name, type, doc, nullable=False)`."""
value = partial(_declared, "value")
"""A column of results, which another run gives again to the byte."""
measured = partial(_declared, "measurement")
"""A column that another run may change, such as a time."""


def seed_column(doc: str, name: str = "seed") -> Column:
    """Return the column of what counts as a seed, where it is no parameter as it stands."""
    return Column(name=name, type="int", role="seed", doc=doc)


def artifact(name: str, doc: str) -> Column:
    """Return a column of arrays as text, such as images, which are kept beside the CSV."""
    return Column(name=name, type="str", role="artifact", doc=doc, nullable=True)


def columns_of(
    params: type[Params], *only: str, without: Collection[str] = ()
) -> tuple[Column, ...]:
    """Return the columns of parameters: all in their order, or only some, in the order given.

    Raises SpecError for a name that is none of them.
    """
    fields = {field.name: field for field in params.fields()}
    if unknown := {*only, *without} - fields.keys():
        raise SpecError(f"{params.__name__} has no parameters {sorted(unknown)}")
    chosen = [fields[name] for name in only or fields if name not in without]
    return tuple(Column(name=f.name, type=f.type, role=f.role, doc=f.doc) for f in chosen)


def counted_seeds(count: int, unit: str = "") -> str:
    """Return a count of seeds, with what each of them is where that is given.

    >>> counted_seeds(3, "one trained net"), counted_seeds(1)
    ('3 seeds, each one trained net', '1 seed')
    """
    text = f"{count} seed{'' if count == 1 else 's'}"
    return f"{text}, {'each ' if count > 1 else ''}{unit}" if unit else text


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """What a task's table holds, in the order of its CSV.

    Declared from classes of parameters, columns, and groups of columns:
    `Table.of(Step, *BYTES, value("loss", float, "Validation loss."), make=with_losses)`.
    """

    columns: tuple[Column, ...]
    make: Callable[[Tables], pd.DataFrame] | None = None
    """From the long tables, by experiment id, to the table; the only one as it is by default.
    A long table has the trial's parameters, the run's values, and `status`."""

    def __post_init__(self) -> None:
        names = [column.name for column in self.columns]
        if len(set(names)) != len(names):
            raise SpecError(f"a column is declared twice among {names}")
        if len([column for column in self.columns if column.role == "seed"]) > 1:
            raise SpecError(f"more than one seed column among {names}")

    @classmethod
    def of(
        cls,
        *parts: type[Params] | Column | Iterable[Column],
        make: Callable[[Tables], pd.DataFrame] | None = None,
    ) -> Table:
        """Return the table with the columns of all parts, in their order."""
        columns: list[Column] = []
        for part in parts:
            if isinstance(part, Column):
                columns.append(part)
            elif isinstance(part, type):
                columns += columns_of(part)
            else:
                columns += part
        return cls(tuple(columns), make)

    @property
    def names(self) -> list[str]:
        return [column.name for column in self.columns]

    @property
    def seed(self) -> str | None:
        """The column that holds the seed, or None for a deterministic table."""
        return next((c.name for c in self.columns if c.role == "seed"), None)

    @property
    def seed_doc(self) -> str:
        """What counts as a seed, to stand after "A seed is"; nothing where there are none."""
        doc = next((c.doc for c in self.columns if c.role == "seed"), "")
        return doc[:1].lower() + doc[1:]

    @property
    def seed_unit(self) -> str:
        """The same in a few words: `one trained net`, up to the first stop in it."""
        return re.split(r"[:;,.]", self.seed_doc)[0]

    @property
    def keys(self) -> list[str]:
        """The columns that identify a row."""
        return [c.name for c in self.columns if c.role in ("param", "seed")]


def pick(table: pd.DataFrame, **wanted: Scalar) -> pd.DataFrame:
    """Return the rows whose columns equal these. Raises MissingRows if there is none."""
    found = matching(table, wanted)
    if found.empty:
        asked = ", ".join(f"{name}={value}" for name, value in wanted.items())
        raise MissingRows(f"no row has {asked}")
    return found


def matching(table: pd.DataFrame, wanted: Mapping[str, Scalar]) -> pd.DataFrame:
    """Return the rows whose columns equal these; there may be none."""
    if not wanted:
        return table
    equal = [_equal(table[name], each) for name, each in wanted.items()]
    # One selection, not one per column: each copies all columns.
    return table.take(reduce(operator.and_, equal).nonzero()[0])


def _equal(column: pd.Series, value: Scalar) -> np.ndarray:
    """Return where a column equals a value; a missing cell equals none.

    Arrays are compared: to make a series of the answer takes longer than the answer.
    """
    found: Any = column.array == value
    # A nullable column's answer is nullable too, that of others may be numpy's already.
    mask: np.ndarray = found.to_numpy(bool, na_value=False) if hasattr(found, "to_numpy") else found
    return mask
