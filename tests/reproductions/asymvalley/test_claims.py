"""Claims on starts, recipes, and lines between solutions: they hold, fail, tie, or lack seeds."""

from __future__ import annotations

import pytest

from harness.declare.claims import Claim
from harness.declare.task import Task
from harness.declare.verdict import Word
from harness.store.table_csv import validate
from reproductions.asymvalley.activations import fig28
from reproductions.asymvalley.halves import fig11
from reproductions.asymvalley.recipes import fig08, fig09, fig23, fig24, fig25, fig26
from reproductions.asymvalley.starts import bn_statistics, fig07, fig21, fig22
from reproductions.asymvalley.trained_nets import gradient
from tests.reproductions.asymvalley.activations import hand_made as activations
from tests.reproductions.asymvalley.claim_checks import (
    check_figure,
    check_profiles,
    decide,
    every_claim,
)
from tests.reproductions.asymvalley.halves import hand_made as halves
from tests.reproductions.asymvalley.recipes import hand_made as recipes
from tests.reproductions.asymvalley.starts import hand_made as starts
from tests.reproductions.asymvalley.trained_nets import hand_made as trained_nets
from tests.verdicts import bad, good

MODULES = (
    fig07, fig21, fig22, fig08, fig24, fig25, fig26, fig09, fig23, fig11, fig28, bn_statistics,
    gradient,
)  # fmt: skip
TASKS = {module.task.id: module.task for module in MODULES}
TABLES = {
    **starts.TABLES,
    **recipes.TABLES,
    **halves.TABLES,
    **activations.TABLES,
    **trained_nets.TABLES,
}
EVERY_CLAIM = every_claim(TASKS)
DRAWN = ("fig07", "fig08", "fig11", "gradient")
"""A task of most figures' shapes; the smoke run draws all."""


@pytest.mark.parametrize(("task", "claim"), EVERY_CLAIM)
def test_claim_holds_on_a_table_made_to_hold(task: Task, claim: Claim) -> None:
    verdict = decide(task, claim, TABLES[task.id]("holds"))
    assert (verdict.word, verdict.reason) == (good(claim), "")


@pytest.mark.parametrize(("task", "claim"), EVERY_CLAIM)
def test_claim_fails_on_a_table_made_to_fail(task: Task, claim: Claim) -> None:
    assert decide(task, claim, TABLES[task.id]("fails")).word is bad(claim)


@pytest.mark.parametrize(("task", "claim"), EVERY_CLAIM)
def test_flat_valleys_and_ties_pass_no_empirical_claim(task: Task, claim: Claim) -> None:
    # Flat lines have a gap that never leaves -0.015: neither past -0.02 nor within 0.01.
    if claim.scope.grade == "empirical":
        word = decide(task, claim, TABLES[task.id]("flat")).word
        assert word in (Word.CONTRADICTED, Word.UNDECIDED)


@pytest.mark.parametrize(("task", "claim"), EVERY_CLAIM)
def test_two_seeds_decide_nothing_unless_deterministic(task: Task, claim: Claim) -> None:
    table = TABLES[task.id]("holds")
    expected = good(claim) if claim.scope.deterministic else Word.UNDECIDED
    assert decide(task, claim, table[table["seed"] < 2]).word is expected


def test_claims_are_graded_for_their_profiles() -> None:
    for task in TASKS.values():
        for claim in task.claims:
            check_profiles(claim)


@pytest.mark.parametrize("name", sorted(TASKS))
def test_task_is_whole(name: str) -> None:
    task, table = TASKS[name], TABLES[name]("holds").reindex(columns=TASKS[name].table.names)
    assert len(validate(table, task.table, where=name)) == len(table)


def test_figures_are_described() -> None:
    for task in TASKS.values():
        assert len(task.alt.split()) >= 8
        assert task.caption and task.alt not in task.caption


@pytest.mark.parametrize("word", DRAWN)
def test_figure_draws_within_one_column_and_with_one_seed(word: str) -> None:
    name = f"asymvalley/{word}"
    check_figure(TASKS[name], TABLES[name]("holds"))


CALIBRATED = {"fig07:bn_noise_is_asymmetric": 0.1, "fig22:gaussian_start_is_symmetric": 0.33}
PLANNED = {
    **{"fig07:positive_starts_are_more_asymmetric": 0.0, "fig09:sign_noise_is_asymmetric": 0.0},
    **{"fig23:recipes_sharpen_the_valley": 0.0, "fig28:units_survive_positive_noise": 0.0},
    **{"fig11:random_start_has_barrier": -0.02, "fig11:pretrained_start_has_no_barrier": -0.01},
    **{"fig11:averages_gain_from_shared_signs": 0.5},
    **{"gradient:signs_are_orthogonal_to_gradient": (-0.1, 0.1)},
}


@pytest.mark.parametrize("address", [*CALIBRATED, *PLANNED])
def test_threshold_and_its_source_are_the_planned_ones(address: str) -> None:
    word, name = address.split(":")
    (claim,) = [each for each in TASKS[f"asymvalley/{word}"].claims if each.id == name]
    assert claim.criterion.threshold == {**CALIBRATED, **PLANNED}[address]
    assert claim.scope.threshold_from == ("calibration" if address in CALIBRATED else "ours")
