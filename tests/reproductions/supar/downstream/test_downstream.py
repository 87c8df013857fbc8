"""Table 2 and its substitute: prompts, trials, tables and claims."""

from __future__ import annotations

import math
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import yaml
from safetensors.torch import save

from harness.atomic import write_bytes
from harness.declare.experiment import Status
from harness.declare.reference import load_reference
from harness.declare.statistics import InvalidQuantity
from harness.declare.verdict import samples_per_seed
from reproductions.nets.gpt import GPT
from reproductions.supar.downstream import lm_tasks, tab02
from reproductions.supar.downstream.experiment import (
    GivenNet,
    ScoredNet,
    downstream,
    given,
)
from reproductions.supar.downstream.quantities import average, leads, leads_at_lowest
from reproductions.supar.downstream.trial import net_config
from reproductions.supar.models.points import point as made
from reproductions.supar.models.training import generator_of
from tests.checkout import PAPERS
from tests.reproductions.supar import small
from tests.reproductions.supar.hand_made import TABLES
from tests.reproductions.supar.scored import Kept

FOLDER = Path(lm_tasks.__file__).parent
SENTENCES = " ".join(f"The {i}th cat saw {i + 1} old dogs run away." for i in range(400))


def definition(path: Path) -> dict[str, Any]:
    """Return a task's file without its functions."""
    return dict(yaml.safe_load(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    ("name", "stock"),
    [
        ("arc_easy", "arc/arc_easy.yaml"),
        ("piqa", "piqa/piqa.yaml"),
        ("lambada", "lambada/lambada_openai.yaml"),
    ],
)
def test_prompt_is_that_of_the_stock_task(name: str, stock: str) -> None:
    found = find_spec("lm_eval")
    assert found is not None and found.submodule_search_locations
    theirs = definition(Path(found.submodule_search_locations[0]) / "tasks" / stock)
    text = {"question": "Why?", "goal": "Do it", "text": "in a blue moon"}
    ours = definition(FOLDER / f"{name}.yaml")
    assert ours["output_type"] == theirs["output_type"]
    assert rendered(ours["doc_to_text"], text) == rendered(theirs["doc_to_text"], text)
    if name == "lambada":
        assert rendered(ours["doc_to_target"], text) == rendered(theirs["doc_to_target"], text)


def rendered(template: str, document: dict[str, str]) -> str:
    from jinja2 import Environment

    return Environment(keep_trailing_newline=True).from_string(template).render(document)


def test_boolq_is_asked_without_its_passage() -> None:
    document = {"question": "is tea hot?", "answer": True, "passage": "Tea is served hot."}
    task = lm_tasks.local_tasks({"boolq": [document]})["boolq"].task
    task.build_all_requests(limit=None, rank=0, world_size=1)
    prompt = "Question: is tea hot?\nAnswer:"
    assert [request.args for request in task.instances] == [(prompt, " no"), (prompt, " yes")]


def drawn(point: ScoredNet) -> GPT:
    return GPT(net_config(point), generator=generator_of(7)).eval()


def context_of(
    point: ScoredNet, *, val_loss: float | None = 1.0, data: Any = None
) -> small.Context:
    kept = Kept(drawn(point).state_dict(), val_loss=val_loss)
    return small.Context(downstream, point, text=SENTENCES, kept=kept, data=data or {})


def test_diverged_net_has_a_row_a_task_without_accuracy() -> None:
    point = small.points(downstream)[0]
    outcome = small.run(downstream, point, context_of(point, val_loss=None))
    assert outcome.status is Status.DIVERGED
    assert [(row["task"], row["accuracy"]) for row in outcome.rows] == [
        (name, None) for name in lm_tasks.LOCAL
    ]


def test_staged_data_is_asked_from_the_test_split_and_the_front() -> None:
    point = replace(small.points(downstream)[0], suite="local", max_documents=2)
    arc = [
        {"split": split, "question": f"Q{i}?", "choices": ["a", "b"], "answer": 0}
        for i, split in enumerate(("train", "test", "test", "test"))
    ]
    data = {
        "arc_easy": arc,
        "lambada_test": [{"text": f"one two {i}"} for i in range(3)],
        "piqa_val": [{"goal": "g", "sol1": "x", "sol2": "yy", "answer": 0}] * 3,
        "boolq_val_noctx": [{"question": "is it?", "answer": False}] * 3,
    }
    rows = list(small.run(downstream, point, context_of(point, data=data)).rows)
    assert {row["num_documents"] for row in rows} == {2}
    del data["arc_easy"][0]
    again = list(small.run(downstream, point, context_of(point, data=data)).rows)
    assert rows == again


def test_checkpoint_handed_in_scores_as_the_net_it_holds(tmp_path: Path) -> None:
    point = small.points(downstream)[-1]
    name = f"{point.scheme}-0.25-{point.seed}.safetensors"
    write_bytes(tmp_path / name, save(dict(drawn(point).state_dict())))
    handed = made(GivenNet, point, checkpoint=str(tmp_path))
    context = context_of(point)
    assert small.run(given, handed, context).rows == small.run(downstream, point, context).rows


def test_averages_are_over_the_tasks_that_were_run() -> None:
    table = TABLES["supar/tab02"](True).query("seed == 0")
    mean = (0.25 + 0.0 + 0.25 + 0.5 + 0.5) / 5
    assert average(table, scheme="random") == pytest.approx(mean)
    assert average(table, scheme="sp", density=0.25) == pytest.approx(mean + 0.04)
    assert leads(table)[:2] == pytest.approx([0.06, 0.01])
    assert leads_at_lowest(table) == pytest.approx([0.06, 0.01])


def test_a_seed_whose_net_diverged_is_not_left_out() -> None:
    table = TABLES["supar/tab02"](True)
    claim = next(each for each in tab02.task.claims if each.criterion.quantity is leads)
    table.loc[(table["seed"] == 0) & (table["scheme"] == "supar"), "accuracy"] = math.nan
    with pytest.raises(InvalidQuantity, match="has 0 accuracies"):
        samples_per_seed(claim.criterion, table, "seed")


def test_guessing_is_held_against_the_row_of_table_2() -> None:
    reference = load_reference(PAPERS / "supar", "tab02")
    random = reference[reference["series"].str.split().str[0] == "random"]
    words = (random["series"] + " " + random["y_name"]).str.split().map(set)
    names = {"arc_easy": "ARC-easy", "lambada": "LAMBADA", "race": "RACE"}
    names |= {"piqa": "PIQA", "boolq": "BoolQ"}
    for task, value in tab02.RANDOM_ROW:
        (row,) = random[words.map(lambda found, name=names[task]: name in found)].to_dict("records")
        assert row["value"] == value
