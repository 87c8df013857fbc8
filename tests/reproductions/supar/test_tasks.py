"""The tasks of this paper: declared, viewed, drawn, and broken on purpose."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from matplotlib.text import Text

from harness.declare.papers import deviations_of, load_deviations, load_paper
from harness.declare.profiles import PROFILES
from harness.declare.reference import load_reference
from harness.declare.task import Task
from harness.declare.verdict import Word
from harness.publish.figures import draw, figure_of
from harness.publish.looks import Options
from harness.store.seeds import derive_seed
from harness.store.table_csv import build_table, validate
from reproductions.supar.method import parameterization
from reproductions.supar.rules.experiment import identities
from reproductions.supar.rules.tab01 import ROUNDING, RULES, rule_errors
from reproductions.supar.settings.experiment import configuration
from tests.checkout import PAPERS
from tests.harness.publish.test_figures import DOCUMENT
from tests.latex import needs_latex, set_by_latex
from tests.method_pages import examples
from tests.reproductions.supar.hand_made import TABLES, sweep
from tests.reproductions.supar.test_claims import TASKS
from tests.verdicts import controlled

FOLDER = PAPERS / "supar"
FILES = [item.file for item in load_paper(FOLDER).items if item.file]
MODULES = [file.removesuffix(".py").replace("/", ".") for file in FILES]
DRAWN = [name for name, task in TASKS.items() if task.figure is not None]


class Context:
    """As much of a run's context as experiments without data ask for."""

    profile = "smoke"
    device = "cpu"

    def seed(self, stream: str) -> int:
        return derive_seed(stream, {})


def rows_of(experiment: Any, keep: Callable[[Any], bool] = lambda params: True) -> pd.DataFrame:
    """Run an experiment's smoke trials here, and return its long frame."""
    run = experiment.function(experiment.run)
    return pd.DataFrame(
        {**params, **row, "status": "done"}
        for params in experiment.params_of("smoke")
        if keep(params)
        for row in run(experiment.typed(params), Context())
    )


def tab01_table() -> pd.DataFrame:
    task = TASKS["supar/tab01"]

    def small(params: Any) -> bool:
        return params["width"] == 64 and params["density"] in (1.0, 0.25)

    return build_table(task, {"supar/identities": rows_of(identities, small)})


def tab01_verdicts(table: pd.DataFrame) -> dict[str, Word]:
    task = TASKS["supar/tab01"]
    return {
        claim.id: controlled(claim, table, seed=task.table.seed, profile="smoke").word
        for claim in task.claims
    }


def test_table_1_holds_as_built() -> None:
    assert set(tab01_verdicts(tab01_table()).values()) == {Word.HOLDS}


def test_density_forgotten_in_the_rules_breaks_exact_claims(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rule = parameterization.Parameterization.rule

    def without_density(self: Any, role: Any, density: float | None = None) -> Any:
        return rule(self, role, 1.0)

    monkeypatch.setattr(parameterization.Parameterization, "rule", without_density)
    table = tab01_table()
    broken = {name for name, word in tab01_verdicts(table).items() if word is Word.FAILS}
    assert broken == {"rules_as_printed"}
    errors = dict(zip(RULES, rule_errors(table), strict=True))
    wrong = {rule for rule, error in errors.items() if error > ROUNDING}
    assert wrong == {"hidden_init_var", "hidden_lr_adam"}


def test_settings_of_our_paper_grids_are_the_published_ones() -> None:
    frames = {"supar/configuration": rows_of(configuration)}
    for name in ("supar/tab03", "supar/tab04"):
        task = TASKS[name]
        table = build_table(task, frames)
        for claim in task.claims:
            verdict = controlled(claim, table, seed=task.table.seed, profile="smoke")
            assert (claim.id, verdict.word, verdict.reason) == (claim.id, Word.HOLDS, "")


def all_tasks() -> dict[str, Task]:
    """Return every task of the folder, those that other tests of this paper look at too."""
    modules = [import_module(f"reproductions.supar.{name}") for name in MODULES]
    tasks = [module.task for module in modules]
    assert len({task.id for task in tasks}) == len(tasks)
    return {task.id: task for task in tasks}


def test_every_item_of_the_paper_is_listed_and_every_task_has_its_file() -> None:
    paper = load_paper(FOLDER)
    words = [f"fig{n:02d}" for n in range(1, 15)] + [f"tab{n:02d}" for n in range(1, 5)]
    assert sorted(item.id for item in paper.items if item.id[-1].isdigit()) == sorted(words)
    files = {item.id: item.file for item in paper.items if item.status == "task"}
    assert {f"supar/{word}" for word in files} == set(all_tasks())
    assert all(Path(file).stem == word for word, file in files.items())


def test_only_diagrams_have_nothing_to_run() -> None:
    items = {item.id: item.status for item in load_paper(FOLDER).items}
    assert {word for word, status in items.items() if status != "task"} == {"fig02", "fig04"}


@pytest.mark.parametrize("profile", PROFILES)
def test_deviations_name_tasks_that_exist(profile: Any) -> None:
    deviations = load_deviations(FOLDER)
    words = {name.split("/")[1] for name in all_tasks()}
    assert {word for entry in deviations for word in entry.tasks} <= words | {"*"}
    trained = deviations_of(deviations, word="fig06", profile=profile)
    assert trained, "a sweep that equals the paper's in everything needs no ledger"


@pytest.mark.parametrize("name", sorted(TASKS))
def test_hand_made_tables_have_the_declared_columns(name: str) -> None:
    task = TASKS[name]
    table = TABLES[name](True).reindex(columns=task.table.names)
    assert len(validate(table, task.table, where=name)) == len(table)


@pytest.mark.parametrize("name", DRAWN)
def test_figure_draws_without_readings_and_with_one_seed(name: str) -> None:
    """Beside them, and in the other width, the smoke run draws."""
    reference = load_reference(FOLDER, name.split("/")[1]).iloc[:0]
    table = TABLES[name](True).query("seed == 0 and density in (1, 0.25)")
    assert draw(TASKS[name], table=table, reference=reference, profile="smoke", width="single")


def test_figure_6_of_ours_alone_has_three_panels_and_our_densities(tmp_path: Path) -> None:
    needs_latex("pgf.sty")
    task, reference = TASKS["supar/fig06"], load_reference(FOLDER, "fig06")
    table = TABLES["supar/fig06"](True)
    look: Options = {"ours_only": True, "width": "3.3in"}
    figure = figure_of(task, table=table, reference=reference, profile="cpu", **look)
    words = [text.get_text() for text in figure.findobj(Text)]  # type: ignore[attr-defined]
    assert len(figure.axes) == 3
    assert not [text for text in words if "arXiv" in text or "1/32" in text]
    image = draw(task, table=table, reference=reference, profile="cpu", fmt="pgf", **look)
    (tmp_path / "figure.pgf").write_bytes(image)
    assert "Missing character" not in set_by_latex(DOCUMENT, tmp_path)


def test_a_diverged_run_stays_in_the_table_without_a_loss() -> None:
    frame = sweep(True).drop(columns="diverged").assign(status="done")
    frame.loc[0, ["train_loss", "val_loss", "test_loss"]] = float("nan")
    frame.loc[0, "status"] = "diverged"
    table = build_table(TASKS["supar/fig06"], {"supar/lr_sweep": frame})
    assert len(table) == len(frame)
    assert table["diverged"].tolist() == [True] + [False] * (len(frame) - 1)


def test_figure_1_shows_two_schemes() -> None:
    frame = sweep(True).drop(columns="diverged").assign(status="done")
    table = build_table(TASKS["supar/fig01"], {"supar/lr_sweep": frame})
    assert set(table["scheme"]) == {"sp", "supar"}


def long_sweep(val_losses: dict[float, float], **other: float) -> pd.DataFrame:
    point = {"scheme": "sp", "density": 0.5, "width": 64, "seed": 0, "test_loss": 9.0, **other}
    return pd.DataFrame(
        {**point, "log2_lr": rate, "val_loss": loss, "train_loss": 10.0 * rate, "status": "done"}
        for rate, loss in val_losses.items()
    )


def test_the_rate_is_chosen_by_validation_loss_alone() -> None:
    frame = long_sweep({-3.0: 2.0, -2.0: 1.0, -1.0: 3.0})
    (row,) = build_table(TASKS["supar/fig08"], {"supar/lr_sweep": frame}).to_dict("records")
    # Train loss is least at -3: it must not choose.
    assert (row["log2_lr"], row["train_loss"], row["on_edge"]) == (-2.0, -20.0, False)
    assert row["num_rates"] == 3


@pytest.mark.parametrize("losses", [{-3.0: 1.0, -2.0: 2.0}, {-3.0: 2.0, -2.0: 1.0}])
def test_a_choice_at_the_end_of_its_window_is_marked(losses: dict[float, float]) -> None:
    table = build_table(TASKS["supar/fig08"], {"supar/lr_sweep": long_sweep(losses)})
    assert table["on_edge"].tolist() == [True]


def test_all_diverged_leaves_an_empty_choice() -> None:
    frame = long_sweep({-3.0: float("nan"), -2.0: float("nan")})
    (row,) = build_table(TASKS["supar/fig08"], {"supar/lr_sweep": frame}).to_dict("records")
    assert pd.isna(row["log2_lr"]) and pd.isna(row["train_loss"]) and row["on_edge"]


def test_declaring_tasks_imports_neither_torch_nor_pandas() -> None:
    imports = "; ".join(f"import reproductions.supar.{name}" for name in MODULES)
    code = f"import sys; {imports}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = {"torch", "pandas", "pandera", "matplotlib", "lm_eval"}
    assert not heavy & set(done.stdout.split())


def test_the_page_s_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    # Each goes on from those before.
    for code in examples("supar", {"pandas", "matplotlib"}):
        exec(compile(code, "supar.md", "exec"), names)
    weight = names["model"][2].weight
    assert (weight == 0).sum() == weight.numel() * 7 // 8
    assert float(names["loss"].detach()) < float(names["first"])
    assert names["report"].verdict == "pass"
    assert (tmp_path / "check.svg").stat().st_size > 0
