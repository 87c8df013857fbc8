"""Tasks of lm-eval over records at hand, and what a model scores on them.

A task is a YAML file in lm-eval's own form that names no data set, so nothing is fetched. lm-eval
is imported where it is about to run, never by importing this module.
"""

from __future__ import annotations

import contextlib
import io
import os
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any

from harness.canonical import digest
from harness.errors import SpecError

if TYPE_CHECKING:
    from lm_eval.api.instance import Instance
    from lm_eval.api.model import LM
    from lm_eval.api.task import ConfigurableTask

Documents = Sequence[Mapping[str, Any]]

BOOTSTRAPS = 100
"""Resamples for metrics that are no mean; the standard error of a mean has a formula."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LMTask:
    """A task as lm-eval runs it, and the file that defines it."""

    task: ConfigurableTask
    definition: str
    """Text of its YAML file."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Score:
    """What a model scored on a task by one metric, and what was asked."""

    task: str
    metric: str
    """lm-eval's name: `acc`, `exact_match`."""
    filter: str
    """lm-eval's name of what was done to answers first; `none` without."""
    value: float
    stderr: float | None
    """Standard error over documents; None for one document, or a metric that has none."""
    random_value: float
    """What guessing scores: 1 / choices, the mean over documents; 0 without choices."""
    num_documents: int
    lm_eval_version: str
    task_sha256: str
    """Over the task's file, every prompt and answer that was scored, and what is right."""


def stay_offline() -> None:
    """Keep lm-eval and what it imports from the network; they look when they are imported."""
    os.environ |= {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1"}


@contextlib.contextmanager
def quietly() -> Iterator[None]:
    """Keep what lm-eval says from the terminal, which workers share with the runner's table."""
    with contextlib.redirect_stderr(io.StringIO()):
        yield


def task_over(records: Documents, *, definition: str) -> LMTask:
    """Return the task that a YAML file defines, over records.

    records: in the fields that the definition's templates name; they become its test split.
    definition: text of the file. Raises SpecError without records: lm-eval looks at the first.
    """
    import yaml
    from lm_eval.api.task import ConfigurableTask

    if not records:
        raise SpecError("a task needs at least one record")

    class InMemory(ConfigurableTask):  # type: ignore[misc]
        """A task whose documents are at hand: there is nothing to download."""

        def download(self, dataset_kwargs: dict[str, Any] | None = None, **_: Any) -> None:
            import datasets

            rows = [dict(record) for record in records]
            self.dataset = {self.config.test_split: datasets.Dataset.from_list(rows)}

    return LMTask(task=InMemory(config=yaml.safe_load(definition)), definition=definition)


def scores(lm: LM, tasks: Mapping[str, LMTask], *, num_documents: int | None) -> list[Score]:
    """Return what a model of lm-eval scores: for each task by name each filter and metric.

    num_documents: how many of each task's documents, the first ones; all where None.
    """
    import lm_eval
    from tqdm import tqdm

    # Its own is one between processes, whose semaphore outlives a worker that is stopped.
    tqdm.set_lock(threading.RLock())
    with quietly():
        # Not simple_evaluate: it also seeds the global streams and collects facts of the machine.
        found = lm_eval.evaluate(
            lm=lm,
            task_dict={"tasks": {name: entry.task for name, entry in tasks.items()}},
            limit=num_documents,
            bootstrap_iters=BOOTSTRAPS,
            log_samples=False,
        )
    assert found is not None
    return [
        _score(name, key, found["results"][name], tasks[name], version=lm_eval.__version__)
        for name in tasks
        for key in found["results"][name]
        if "," in key and "_stderr," not in key
    ]


def _score(
    name: str, key: str, results: Mapping[str, Any], entry: LMTask, *, version: str
) -> Score:
    """Return the score that lm-eval files under `metric,filter`."""
    metric, _, filter_name = key.partition(",")
    stderr = results[f"{metric}_stderr,{filter_name}"]
    requests = entry.task.instances
    return Score(
        task=name,
        metric=metric,
        filter=filter_name,
        value=float(results[key]),
        # One document has none: lm-eval then says so in words.
        stderr=float(stderr) if isinstance(stderr, float) else None,
        random_value=_random_value(requests),
        num_documents=len({request.doc_id for request in requests}),
        lm_eval_version=version,
        task_sha256=_task_sha256(entry),
    )


def _random_value(requests: Sequence[Instance]) -> float:
    num_choices = Counter(request.doc_id for request in requests)
    if all(count == 1 for count in num_choices.values()):
        return 0.0
    return fmean(1.0 / count for count in num_choices.values())


def _task_sha256(entry: LMTask) -> str:
    requests = entry.task.instances
    prompts = [list(request.args) for request in requests]
    targets = [str(entry.task.doc_to_target(request.doc)) for request in requests]
    return digest({"definition": entry.definition, "prompts": prompts, "targets": targets})
