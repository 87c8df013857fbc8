"""Every claim of this paper, on tables where it holds, fails, and has too few seeds."""

from __future__ import annotations

import pandas as pd
import pytest

from harness.claims import Claim, Word, evaluate
from harness.seals import seal
from harness.statistics import InvalidQuantity, MissingRows
from harness.task import Task
from reproductions.supar import quantities
from reproductions.supar.tasks import (
    fig01_lr_transfer,
    fig05_coordinate_check,
    fig06_lr_stability,
    fig08_best_loss,
    tab01_parameterization,
    tab03_base_hyperparameters,
    tab04_experiment_details,
)
from tests.reproductions.supar.hand_made import TABLES, best, coordinates, sweep

TASKS = {
    module.task.id: module.task
    for module in (
        fig01_lr_transfer,
        fig05_coordinate_check,
        fig06_lr_stability,
        fig08_best_loss,
        tab01_parameterization,
        tab03_base_hyperparameters,
        tab04_experiment_details,
    )
}
EVERY_CLAIM = [
    pytest.param(task, claim, id=f"{task.id}:{claim.id}")
    for task in TASKS.values()
    for claim in task.claims
]


def word(task: Task, claim: Claim, table: pd.DataFrame) -> tuple[Word, str]:
    table = table.reindex(columns=task.columns.names)
    verdict = evaluate(claim, table, columns=task.columns, profile="paper")
    return verdict.word, verdict.reason


@pytest.mark.parametrize(("task", "claim"), EVERY_CLAIM)
def test_claim_holds_on_a_table_made_to_hold(task: Task, claim: Claim) -> None:
    assert word(task, claim, TABLES[task.id](True)) == (Word.REPRODUCED, "")


@pytest.mark.parametrize(("task", "claim"), EVERY_CLAIM)
def test_claim_fails_on_a_table_made_to_fail(task: Task, claim: Claim) -> None:
    assert word(task, claim, TABLES[task.id](False)) == (Word.NOT_REPRODUCED, "")


@pytest.mark.parametrize(("task", "claim"), EVERY_CLAIM)
def test_two_seeds_decide_nothing_unless_deterministic(task: Task, claim: Claim) -> None:
    table = TABLES[task.id](True)
    few = table[table["seed"] < 2] if "seed" in table else table
    expected = Word.REPRODUCED if claim.deterministic else Word.INCONCLUSIVE
    assert word(task, claim, few)[0] is expected


@pytest.mark.parametrize(("task", "claim"), EVERY_CLAIM)
def test_claim_can_be_sealed_and_is_graded_for_its_profiles(task: Task, claim: Claim) -> None:
    assert len(seal(claim).sha256) == 64
    if claim.grade == "exact":
        assert "smoke" in claim.profiles
    else:
        assert "smoke" not in claim.profiles
        assert claim.out_of_profile


def test_every_planned_claim_is_there() -> None:
    counts = {name.split("/")[1]: len(task.claims) for name, task in TASKS.items()}
    # Table 1: 7 rules, twins, masks. Figure 5: a and b by 3 schemes and 2 blocks, c by 2 schemes,
    # 2 blocks and 2 sizes. Figure 8: per rival, with dense and without, direction, as stated.
    assert counts == {
        "tab01": 9,
        "tab03": 6,
        "tab04": 27,
        "fig01": 3,
        "fig05": 6 + 6 + 8,
        "fig06": 11,
        "fig08": 8,
    }


def test_thresholds_are_the_planned_ones() -> None:
    found = {
        f"{task.id.split('/')[1]}:{claim.id}": claim.threshold
        for task in TASKS.values()
        for claim in task.claims
    }
    assert found["fig06:supar_stays"] == 1.0
    assert found["fig06:sp_moves"] == found["fig06:mup_moves"] == 2.0
    assert found["fig06:supar_transfer"] == 0.01
    assert found["fig08:sp_gap"] == found["fig08:mup_gap_sparse"] == -0.005
    assert found["fig05:slope_supar_attention"] == 0.15
    assert found["fig05:slope_mup_feed_forward"] == (0.7, 1.4)
    assert found["fig05:after_supar_attention"] == (0.25, 4.0)
    assert found["fig05:after_sp_feed_forward"] == (0.0, 0.1)
    assert found["fig05:gradient_supar_attention"] == (0.0, 2.5)


def test_optimum_on_the_edge_names_scheme_and_density() -> None:
    table = sweep(True).query("seed == 0 and log2_lr >= -5")
    with pytest.raises(InvalidQuantity, match=r"sp at density 1: .*edge at 2\^-5"):
        quantities.optimum_shift(table, scheme="sp")


def test_transfer_loss_is_the_cost_of_the_dense_rate() -> None:
    # Vertex at -8 dense and at -4 sparse: 0.02 * 4 ** 2 nats over a best of 2.
    table = sweep(True).query("seed == 0")
    assert quantities.transfer_loss(table, scheme="sp") == pytest.approx(0.32 / 2.0)


def test_dense_rate_outside_the_sparse_window_is_said() -> None:
    table = sweep(True).query("seed == 0 and not (density < 1 and log2_lr < -7)")
    with pytest.raises(InvalidQuantity, match=r"outside the window at density 0\.0625"):
        quantities.transfer_loss(table, scheme="sp")


def test_diverged_transfer_is_said_and_not_a_number() -> None:
    table = sweep(True).query("seed == 0").copy()
    at = (table["density"] == 0.0625) & (table["log2_lr"] == -8.0)
    table.loc[at, "train_loss"] = float("nan")
    with pytest.raises(InvalidQuantity, match="diverges at the dense optimum"):
        quantities.transfer_loss(table, scheme="sp")


def test_diverged_runs_count_as_infinitely_bad() -> None:
    table = sweep(True).query("seed == 0").copy()
    table.loc[table["log2_lr"] > -2.5, "train_loss"] = float("nan")
    assert quantities.optimum_shift(table, scheme="sp") == pytest.approx(4.0)


def test_equal_transfer_losses_are_no_ordering() -> None:
    task = TASKS["supar/fig06"]
    claim = next(claim for claim in task.claims if claim.id == "sp_transfer_dearer")
    table = sweep(True)
    still = table[table["density"] == 1.0]
    table = pd.concat([still.assign(density=density) for density in (1.0, 0.0625)])
    assert word(task, claim, table)[0] is Word.NOT_REPRODUCED


def test_one_diverged_twin_is_a_difference() -> None:
    table = sweep(True)
    alone = (table["scheme"] == "mup") & (table["log2_lr"] == 1.0)
    both = table["log2_lr"] == 2.0
    table.loc[both, "train_loss"] = float("nan")
    pair = ("supar", "mup")
    assert quantities.largest_dense_difference(table, schemes=pair) == 0.0
    table.loc[alone, "train_loss"] = float("nan")
    assert quantities.largest_dense_difference(table, schemes=pair) == float("inf")


def test_best_loss_on_an_edge_decides_nothing() -> None:
    task = TASKS["supar/fig08"]
    table = best(True)
    table.loc[(table["scheme"] == "sp") & (table["density"] == 0.0625), "on_edge"] = True
    verdicts = {claim.id: word(task, claim, table) for claim in task.claims}
    assert verdicts["sp_gap"][0] is Word.INCONCLUSIVE
    assert "sp at density 0.0625" in verdicts["sp_gap"][1]
    assert verdicts["mup_gap"][0] is Word.REPRODUCED


def test_slope_is_that_of_the_power_law() -> None:
    table = coordinates(True).query("seed == 0")
    slope = quantities.activation_slope(table, scheme="sp", block="attention", step=5)
    assert slope == pytest.approx(1.5)


def test_a_missing_scheme_is_missing_rows() -> None:
    with pytest.raises(MissingRows, match="no rows of mup"):
        quantities.optimum(sweep(True).query("scheme == 'sp'"), scheme="mup", density=1.0)
