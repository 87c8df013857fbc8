"""A task: one table or figure of a paper, with its claims."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import Literal

from harness.declare.claims import Claim
from harness.declare.experiment import Experiment
from harness.declare.layout import Layout
from harness.declare.named import Named, With, declaring_package, named
from harness.declare.profiles import check_id
from harness.declare.table import Table
from harness.errors import SpecError

Kind = Literal["table", "figure", "ablation", "kernel", "theory"]
KINDS: dict[str, Kind] = {"tab": "table", "fig": "figure", "abl": "ablation"}
"""By the first letters of an id."""


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """One table or figure of a paper: a table made from experiments, its claims and its figure.

    Its title stands in paper.toml.
    """

    id: str
    """`<paper>/tabNN` or `<paper>/figNN` with the paper's number, or a word of our own."""
    _: KW_ONLY
    reads: tuple[Experiment, ...]
    """Every experiment whose rows the table shows."""
    table: Table
    claims: tuple[Claim, ...] = ()
    layout: Layout | tuple[Layout, ...] = ()
    """How the paper prints the table; several where it prints several."""
    figure: str | With | None = None
    """`module:name` of the function that draws a `FigureContext`, from the package that declares
    the task."""
    draws_seeds: bool = True
    """Whether the figure shows the table's seeds, which its foot then counts."""
    caption: str = ""
    """Under the figure: what is drawn, which spread, over how many seeds."""
    alt: str = ""
    """The figure in words, for those who cannot see it."""
    own_kind: Kind | None = None
    """Only for an id that is a word of our own."""
    package: str = field(default_factory=declaring_package)
    """From where functions are named; that of the module that declares it by default."""

    def __post_init__(self) -> None:
        check_id(self.id)
        if (self.own_kind is None) != (self.word[:3] in KINDS):
            raise SpecError(f"task {self.id}: own_kind is for ids that do not tell the kind")
        if self.figure is not None and not self.alt:
            raise SpecError(f"task {self.id}: a figure needs alt text")
        for layout in self.layouts:
            layout.check(self.table)
        ids = [claim.id for claim in self.claims]
        if len(set(ids)) != len(ids):
            raise SpecError(f"task {self.id}: a claim id repeats among {ids}")

    @property
    def paper(self) -> str:
        return self.id.split("/")[0]

    @property
    def word(self) -> str:
        return self.id.split("/")[1]

    @property
    def kind(self) -> Kind:
        return self.own_kind or KINDS[self.word[:3]]

    @property
    def number(self) -> str:
        """The paper's number, or an empty string for a task of our own."""
        of_paper = self.word[:3] in ("tab", "fig") and self.word[3:].isdigit()
        return self.word[3:].lstrip("0") if of_paper else ""

    @property
    def is_of_paper(self) -> bool:
        """Whether it is a table or figure of the paper, not one of our own."""
        return self.own_kind is None and self.kind != "ablation"

    @property
    def layouts(self) -> tuple[Layout, ...]:
        return self.layout if isinstance(self.layout, tuple) else (self.layout,)

    @property
    def draw(self) -> Named | None:
        """The function that draws the figure, None where there is none."""
        if self.figure is None:
            return None
        return named(self.figure, self.package, where=f"task {self.id}")
