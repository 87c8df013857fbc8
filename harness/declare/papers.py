"""What a paper says of itself: `paper.toml` and `deviations.toml`, read through strict models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, Field, ValidationError, model_validator

from harness.declare.profiles import PROFILES, Profile
from harness.errors import SpecError
from harness.strict import Strict, explain
from harness.untrusted import UnreadableError, is_there, read_toml

EVERY_TASK = "*"
# Names stand in messages, which must stay readable.
LONGEST_NAME = 200

M = TypeVar("M", bound=BaseModel)


class Item(Strict):
    """One table or figure of the paper, also one with nothing to run."""

    id: str = Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=LONGEST_NAME)
    """The task's word: `fig06`, `tab01`, `abl_mu`. By default that of its file."""
    title: str = Field(min_length=1)
    file: str = Field(default="", max_length=LONGEST_NAME)
    """The task's file, relative to the paper's folder."""
    reason: str = ""
    """In its place: why there is nothing to run."""

    @model_validator(mode="before")
    @classmethod
    def _named_by_its_file(cls, item: Any) -> Any:
        if isinstance(item, dict) and "file" in item:
            return {"id": Path(str(item["file"])).stem} | item
        return item

    @model_validator(mode="after")
    def _file_or_reason(self) -> Item:
        if bool(self.file) == bool(self.reason):
            raise ValueError("name the file of its task, or the reason why there is none")
        return self


HeadlineClaim = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*:[a-z][a-z0-9_]*$")]
"""The task's word and the claim's id, `fig06:supar_stays`."""


class PaperMeta(Strict):
    """A paper: its names elsewhere, and every table and figure it has."""

    id: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    title: str = Field(min_length=1)
    known_as: str = ""
    """Its method in a few words, where there is no room for the title."""
    authors: list[str]
    venue: str
    arxiv: str
    openreview: str
    code: str = Field(pattern=r"^([\w.-]+/[\w.-]+)?$")
    """The authors' repository as `owner/name`, or nothing."""
    items: list[Item] = Field(alias="item")
    headline: list[HeadlineClaim] = Field(default_factory=list)
    """The claims that its pages show first."""
    says: str = ""
    """What the paper claims, in two or three sentences."""
    found: str = ""
    """What came out: a sentence or two that stand alone where papers are listed, then a blank line
    and the rest. `{fig06:supar_stays}` becomes our number, `{-fig06:...}` its negative."""
    limits: str = ""
    """What its results cannot support, in a short paragraph."""

    @model_validator(mode="after")
    def _items_unique(self) -> PaperMeta:
        _refuse_repeats([item.id for item in self.items], "item")
        _refuse_repeats(self.headline, "headline")
        return self


class Deviation(Strict):
    """A recorded difference from the paper, with what we expect it to do."""

    id: str = Field(pattern=r"^DEV-[0-9]{2,}$", max_length=LONGEST_NAME)
    what: str = Field(min_length=1)
    paper: str
    """What the paper does."""
    ours: str
    """What we do."""
    effect: str
    """The expected effect on the numbers."""
    tasks: list[str] = Field(min_length=1)
    """The words of the tasks concerned, or `*` for all."""
    profiles: list[Profile] = Field(default=[*PROFILES], min_length=1)
    """Where it holds, if not wherever its tasks run."""


class _Ledger(Strict):
    deviation: list[Deviation] = Field(default_factory=list)

    @model_validator(mode="after")
    def _unique(self) -> _Ledger:
        _refuse_repeats([entry.id for entry in self.deviation], "deviation")
        return self


def load_paper(folder: Path) -> PaperMeta:
    """Read `paper.toml` of a paper's folder.

    Raises SpecError that names the file and the key for a missing or torn file, an unknown
    key, a value of the wrong type, a repeated item, or an id that is not the folder's name.
    """
    path = folder / "paper.toml"
    paper = read_model(path, PaperMeta)
    if paper.id != folder.name:
        raise SpecError(f"{path}: id={paper.id!r} in the folder {folder.name!r}, make them equal")
    return paper


def load_deviations(folder: Path) -> list[Deviation]:
    """Read `deviations.toml` of a paper's folder; none where there is no such file.

    Raises SpecError as `load_paper` does.
    """
    path = folder / "deviations.toml"
    return read_model(path, _Ledger).deviation if is_there(path) else []


def deviations_of(
    deviations: Iterable[Deviation], *, word: str, profile: Profile
) -> list[Deviation]:
    """Return those that concern a task (by its word, `fig06`) at a profile, in their order."""
    return [
        entry for entry in deviations
        if profile in entry.profiles and not {EVERY_TASK, word}.isdisjoint(entry.tasks)
    ]  # fmt: skip


def read_model(path: Path, model: type[M]) -> M:
    """Read a TOML file through a model. Raises SpecError that names the file and what is wrong."""
    try:
        content = read_toml(path)
    except FileNotFoundError as error:
        raise SpecError(f"{path} is missing: write it or name another one") from error
    except UnreadableError as error:
        raise SpecError(f"{error}: correct it") from error
    try:
        return model.model_validate(content)
    except ValidationError as error:
        raise SpecError(f"{path}: {explain(error)}") from error


def _refuse_repeats(names: list[str], what: str) -> None:
    repeated: list[Any] = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise ValueError(f"{what} {repeated[0]!r} is listed twice")
