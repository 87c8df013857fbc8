"""Claims on starts, recipes, and lines between solutions: they hold, fail, tie, or lack seeds."""

from __future__ import annotations

import pytest

from harness.declare.claims import Claim
from harness.declare.task import Task
from harness.declare.verdict import Word
from harness.store.table_csv import validate
from reproductions.asymvalley.activations import fig28 as fig28_activations
from reproductions.asymvalley.halves import fig11 as fig11_half_lines
from reproductions.asymvalley.recipes import fig08 as fig08_recipe_lines
from reproductions.asymvalley.recipes import fig09 as fig09_recipes
from reproductions.asymvalley.starts import bn_statistics
from reproductions.asymvalley.starts import fig07 as fig07_batch_norm_starts
from reproductions.asymvalley.trained_nets import gradient
from tests.reproductions.asymvalley import hand_made_between, hand_made_starts
from tests.reproductions.asymvalley.decided import (
    check_figure,
    check_profiles,
    check_seals,
    decide,
    every_claim,
)

TASKS = {
    task.id: task
    for task in (
        *fig07_batch_norm_starts.tasks,
        *fig08_recipe_lines.tasks,
        *fig09_recipes.tasks,
        fig11_half_lines.task,
        fig28_activations.task,
        bn_statistics.task,
        gradient.task,
    )
}
TABLES = hand_made_starts.TABLES | hand_made_between.TABLES
EVERY_CLAIM = every_claim(TASKS)
TRUE_OF_FLAT = ("gaussian_positive_share", "ones_centre_as_stated")
"""Claims on weights, which flat curves say nothing of."""
DRAWN = ("fig07", "fig08", "fig09", "fig11", "fig28", "bn_statistics", "gradient")
"""One task of each figure's shape."""


@pytest.mark.parametrize(("task", "claim"), EVERY_CLAIM)
def test_claim_holds_on_a_table_made_to_hold(task: Task, claim: Claim) -> None:
    verdict = decide(task, claim, TABLES[task.id]("holds"))
    assert (verdict.word, verdict.reason) == (Word.REPRODUCED, "")


@pytest.mark.parametrize(("task", "claim"), EVERY_CLAIM)
def test_claim_fails_on_a_table_made_to_fail(task: Task, claim: Claim) -> None:
    assert decide(task, claim, TABLES[task.id]("fails")).word is Word.NOT_REPRODUCED


@pytest.mark.parametrize(("task", "claim"), EVERY_CLAIM)
def test_flat_valleys_and_ties_pass_no_empirical_claim(task: Task, claim: Claim) -> None:
    # Flat lines have a gap that never leaves -0.015: neither past -0.02 nor within 0.01.
    if claim.scope.grade == "empirical" and claim.id not in TRUE_OF_FLAT:
        word = decide(task, claim, TABLES[task.id]("flat")).word
        assert word in (Word.NOT_REPRODUCED, Word.INCONCLUSIVE)


@pytest.mark.parametrize(("task", "claim"), EVERY_CLAIM)
def test_two_seeds_decide_nothing_unless_deterministic(task: Task, claim: Claim) -> None:
    table = TABLES[task.id]("holds")
    expected = Word.REPRODUCED if claim.scope.deterministic else Word.INCONCLUSIVE
    assert decide(task, claim, table[table["seed"] < 2]).word is expected


@pytest.mark.parametrize(("task", "claim"), EVERY_CLAIM)
def test_claim_is_graded_for_its_profiles(task: Task, claim: Claim) -> None:
    check_profiles(claim)


@pytest.mark.parametrize("name", sorted(TASKS))
def test_task_is_whole(name: str) -> None:
    task, table = TASKS[name], TABLES[name]("holds").reindex(columns=TASKS[name].columns.names)
    check_seals(task)
    assert len(validate(table, task.table, where=name)) == len(table)


@pytest.mark.parametrize("word", DRAWN)
def test_figure_draws_at_both_widths_and_with_one_seed(word: str) -> None:
    name = f"asymvalley/{word}"
    check_figure(TASKS[name], TABLES[name]("holds"))
