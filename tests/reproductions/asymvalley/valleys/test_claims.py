"""Every claim on valley curves, where it holds, fails, is about nothing, or has too few seeds."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pandas as pd
import pytest

from harness.declare.claims import Claim
from harness.declare.reference import load_reference
from harness.declare.task import Task
from harness.declare.verdict import Verdict, Word
from harness.publish.figures import draw
from harness.store.table_csv import build_table
from reproductions.asymvalley.valleys import (
    fig03,
    fig04,
    fig05,
    fig06,
    fig12,
    fig13,
    fig14,
    fig15,
    fig16,
    fig17,
    fig18,
    fig19,
    fig20,
)  # fmt: skip
from tests.reproductions.asymvalley.valleys.hand_made import table_of
from tests.verdicts import bad, controlled, good

FILES = (fig03, fig04, fig05, fig06)
"""One task of each figure's shape."""
MODULES = (
    fig03, fig12, fig13, fig14, fig15, fig04, fig05, fig16, fig17, fig18, fig19, fig06, fig20,
)  # fmt: skip
TASKS: dict[str, Task] = {module.task.id: module.task for module in MODULES}
EVERY_TASK = [pytest.param(task, id=task.id) for task in TASKS.values()]
EVERY_CLAIM = [
    pytest.param(task, claim, id=f"{task.id}:{claim.id}")
    for task in TASKS.values()
    for claim in task.claims
]
ONE_OF_EACH = [*{param.values[1].id: param for param in reversed(EVERY_CLAIM)}.values()]
"""The first claim of each name: those of one name differ in their nets alone."""


def decide(task: Task, claim: Claim, table: pd.DataFrame) -> Verdict:
    """Evaluate a claim where it is decidable: at `paper`, unless it is exact and on a CPU."""
    profile = "paper" if "paper" in claim.scope.profiles else "cpu"
    return controlled(claim, table[task.table.names], seed=task.table.seed, profile=profile)


def frame_of(table: pd.DataFrame) -> pd.DataFrame:
    """Return a long frame with a table's rows among those of another net and a diverged one."""
    other = table.assign(pair="of another figure", error=0.0)
    lost = table.iloc[:1][["pair", "seed"]].assign(seed=9, status="diverged")
    return pd.concat([table.assign(status="done", width=8), other, lost], ignore_index=True)


def named(task: str, claim: str) -> tuple[Task, Claim]:
    found = TASKS[f"asymvalley/{task}"]
    return found, next(each for each in found.claims if each.id == claim)


@pytest.mark.parametrize(("task", "claim"), EVERY_CLAIM)
def test_claim_holds_on_a_table_made_to_hold(task: Task, claim: Claim) -> None:
    verdict = decide(task, claim, table_of(task.id, "holds"))
    assert (verdict.word, verdict.reason) == (good(claim), "")


@pytest.mark.parametrize(("task", "claim"), EVERY_CLAIM)
def test_claim_fails_on_a_table_made_to_fail(task: Task, claim: Claim) -> None:
    assert decide(task, claim, table_of(task.id, "fails")).word is bad(claim)


@pytest.mark.parametrize(("task", "claim"), ONE_OF_EACH)
def test_flat_valleys_show_no_asymmetry_and_no_order(task: Task, claim: Claim) -> None:
    """Ties pass no strict claim, and no share of nothing is small."""
    if claim.scope.grade == "empirical":
        verdict = decide(task, claim, table_of(task.id, "flat"))
        assert verdict.word in (Word.CONTRADICTED, Word.UNDECIDED)


@pytest.mark.parametrize(("task", "claim"), ONE_OF_EACH)
def test_two_seeds_decide_nothing_unless_deterministic(task: Task, claim: Claim) -> None:
    table = table_of(task.id, "holds")
    expected = good(claim) if claim.scope.deterministic else Word.UNDECIDED
    assert decide(task, claim, table[table["seed"] < 2]).word is expected


@pytest.mark.parametrize(("task", "claim"), EVERY_CLAIM)
def test_claim_is_graded_for_its_profiles(task: Task, claim: Claim) -> None:
    assert claim.scope.deterministic == (claim.scope.grade == "exact")
    assert ("smoke" in claim.scope.profiles) == (claim.scope.grade == "exact")
    assert "cpu" in claim.scope.profiles
    assert claim.scope.elsewhere
    ours = claim.scope.threshold_from == "calibration" or claim.scope.deviation == "DEV-08"
    assert claim.scope.grade == "exact" or ours


@pytest.mark.parametrize("task", EVERY_TASK)
def test_table_has_the_curves_of_its_nets_alone(task: Task) -> None:
    table = table_of(task.id, "holds")
    built = build_table(task, {task.reads[0].id: frame_of(table)})
    expected = table[task.table.names].reset_index(drop=True)
    pd.testing.assert_frame_equal(built, expected, check_dtype=False, rtol=1e-8)


@pytest.mark.parametrize("task", EVERY_TASK)
def test_nets_that_all_diverged_leave_an_empty_table(task: Task) -> None:
    lost = frame_of(table_of(task.id, "holds")).query("status == 'diverged'")
    built = build_table(task, {task.reads[0].id: lost.dropna(axis="columns")})
    assert built.empty
    assert {decide(task, claim, built).word for claim in task.claims} == {Word.UNTESTED}


@pytest.mark.parametrize("task", EVERY_TASK)
def test_missing_curves_are_no_verdict(task: Task) -> None:
    """A table of one curve lacks what every trained claim compares it with, or says so."""
    table = table_of(task.id, "holds")
    one = table[table["lambda"] > 2.0]
    for claim in task.claims:
        assert decide(task, claim, one).word is Word.UNTESTED, claim.id


PLANNED = {
    **{"fig03:sign_noise_is_asymmetric": 0.10, "fig12:sign_noise_is_asymmetric": 0.05},
    **{"fig13:sign_noise_is_asymmetric": 0.05, "fig14:sign_noise_is_asymmetric": 0.05},
    **{"fig15:sign_noise_is_asymmetric": 0.0, "fig03:raw_noise_is_symmetric": 0.25},
    **{"fig13:raw_noise_is_symmetric": 0.25, "fig13:loss_is_asymmetric_too": 0.0},
    **{"fig03:shifted_noise_leans_positive": 0.0, "fig04:positive_side_falls": -0.9},
    **{"fig04:negative_side_rises": 0.6, "fig05:weights_and_signs_are_asymmetric": 0.05},
    **{"fig05:positive_parts_are_symmetric": 0.5, "fig05:batch_norm_tilts_the_start": 0.0},
    **{"fig06:groups_are_asymmetric": 0.0, "fig06:groups_are_asymmetric_in_loss": 0.0},
}


@pytest.mark.parametrize("address", PLANNED)
def test_threshold_is_the_planned_one(address: str) -> None:
    _, claim = named(*address.split(":"))
    assert claim.criterion.threshold == PLANNED[address]


def flattened(task: Task, **place: object) -> pd.DataFrame:
    """Return the table where claims hold, but sign-consistent curves of a place are flat."""
    table = table_of(task.id, "holds")
    chosen = table["sign_consistent"] & (table["lambda"] != 0.0)
    for column, value in place.items():
        chosen &= table[column] == value
    table.loc[chosen, ["error", "ce"]] = 0.5
    return table


@pytest.mark.parametrize(("word", "kinds"), [("SUPPORTED", 1), ("CONTRADICTED", 2)])
def test_one_of_seven_kinds_may_be_symmetric(word: str, kinds: int) -> None:
    task, claim = named("fig03", "sign_noise_is_asymmetric")
    table = flattened(task, noise="ones")
    if kinds == 2:
        other = flattened(task, noise="uniform")
        table = table.where(table["noise"] != "uniform", other)
    assert decide(task, claim, table).word == word


@pytest.mark.parametrize("id", ["groups_are_asymmetric", "groups_are_asymmetric_in_loss"])
def test_one_of_six_groups_may_be_symmetric(id: str) -> None:
    task, claim = named("fig06", id)
    table = flattened(task, group="clf")
    assert decide(task, claim, table).word is Word.SUPPORTED
    two = table.where(table["group"] != "bn", flattened(task, group="bn"))
    assert decide(task, claim, two).word is Word.CONTRADICTED


def test_six_of_seven_are_counted_over_seeds_and_not_within_each() -> None:
    """Another pair of kinds has no asymmetry in each seed; over the seeds all seven have some."""
    task, claim = named("fig15", "sign_noise_is_asymmetric")
    table = table_of(task.id, "holds")
    for seed, kinds in enumerate((("ones", "uniform"), ("binary", "gaussian"), ("ternary",))):
        chosen = (table["seed"] == seed) & table["noise"].isin(kinds) & (table["lambda"] != 0.0)
        table.loc[chosen & table["sign_consistent"], "error"] = 0.5
    assert decide(task, claim, table).word is Word.UNDECIDED


@pytest.mark.parametrize(("figure", "few"), [("fig03", 2), ("fig13", 4)])
def test_too_few_draws_decide_no_symmetry(figure: str, few: int) -> None:
    task, claim = named(figure, "raw_noise_is_symmetric")
    table = table_of(task.id, "holds")
    enough = decide(task, claim, table[table["draw"] <= few])
    verdict = decide(task, claim, table[table["draw"] < few])
    assert enough.word is Word.SUPPORTED
    assert (verdict.word, verdict.reason) == (
        Word.UNDECIDED,
        f"{few} draw(s) of the noise, need at least {few + 1}",
    )


def test_each_net_of_figure_4_must_follow() -> None:
    task, claim = named("fig04", "positive_side_falls")
    holds, fails = table_of(task.id, "holds"), table_of(task.id, "fails")
    table = pd.concat(
        [holds[holds["pair"] == "vgg16_cifar10"], fails[fails["pair"] != "vgg16_cifar10"]]
    )
    verdict = decide(task, claim, table)
    assert (verdict.word, verdict.deciding) == (Word.CONTRADICTED, "ResNet20")


@pytest.mark.parametrize("module", FILES, ids=lambda module: module.__name__.split(".")[-1])
def test_figure_fits_one_column(module: ModuleType, tmp_path: Path) -> None:
    """Panels flow into further rows there; the double width is drawn with every result."""
    task: Task = module.task
    table = table_of(task.id, "holds")[task.table.names]
    reference = load_reference(tmp_path)
    found = draw(task, table=table, reference=reference, profile="cpu", width="single")
    assert found.startswith(b"<?xml")
