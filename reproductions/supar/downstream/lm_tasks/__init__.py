"""Table 2's tasks for lm-eval: our own files over documents handed in, or lm-eval's stock ones.

Our files have the stock prompts and one metric, accuracy, without examples in the prompt (the
paper states neither harness nor shots). They name no data set, so lm-eval fetches nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from harness.lm_eval import Documents, LMTask, task_over

LOCAL = ("arc_easy", "lambada", "piqa", "boolq")
"""Those that have a file here: no copy of RACE is staged."""
STOCK = {
    "arc_easy": "arc_easy",
    "lambada": "lambada_openai",
    "race": "race",
    "piqa": "piqa",
    "boolq": "boolq",
}
"""Table 2's tasks in its order: our word -> lm-eval's."""


def local_tasks(documents: Mapping[str, Documents]) -> dict[str, LMTask]:
    """Return our tasks over documents, by name.

    documents: per name of `LOCAL` its records, in the fields of the staged data.
    """
    folder = Path(__file__).parent
    return {
        name: task_over(records, definition=(folder / f"{name}.yaml").read_text(encoding="utf-8"))
        for name, records in documents.items()
    }


def stock_tasks() -> dict[str, LMTask]:
    """Return Table 2's five tasks as lm-eval ships them; needs the network or its cache."""
    from lm_eval.tasks import TaskManager

    manager = TaskManager()
    loaded = manager.load(list(STOCK.values()))["tasks"]
    found = {}
    for name, stock in STOCK.items():
        path = manager.task_index[stock].yaml_path
        assert path is not None
        loaded[stock].set_config(key="num_fewshot", value=0)
        definition = Path(path).read_text(encoding="utf-8")
        found[name] = LMTask(task=loaded[stock], definition=definition)
    return found


def documents_from_text(text: str, num_documents: int) -> dict[str, Documents]:
    """Return made-up documents for each of our tasks from running text, a sentence each.

    They exercise the path and measure nothing: the right answer is the sentence that follows.
    """
    sentences = [part.strip() for part in text.replace("\n", " ").split(".") if " " in part.strip()]
    arc, piqa, boolq = [], [], []
    for index in range(num_documents):
        here, *others = sentences[5 * index : 5 * index + 5]
        answer = index % 4
        choices = [*others[1 : 1 + answer], others[0], *others[1 + answer :]]
        arc.append({"question": here, "choices": choices, "answer": answer})
        two = {"sol1": others[index % 2], "sol2": others[1 - index % 2]}
        piqa.append({"goal": here, **two, "answer": index % 2})
        boolq.append({"question": f"{here}?", "answer": bool(index % 2)})
    lambada = [{"text": sentence} for sentence in sentences[:num_documents]]
    return {"arc_easy": arc, "lambada": lambada, "piqa": piqa, "boolq": boolq}
