"""Accuracy on five benchmarks by lm-eval: of the in-house model untuned and tuned at its best
learning rate, and of models handed in."""

from __future__ import annotations

from functools import partial

from harness.declare import Estimate, doc, seeds_of
from reproductions.lisa.base_model.experiment import USES_BASE
from reproductions.lisa.finetuning.experiment import USES_TUNED
from reproductions.lisa.models.names import IN_HOUSE, QUALITY, SMALLEST
from reproductions.lisa.models.scored import NOT_GIVEN, Scored, needs_of, scored

PACKAGES = ("lm_eval", "transformers", "tokenizers", "peft")
DATASETS = {
    "mmlu": "mmlu",
    "agieval": "agieval_en",
    "winogrande": "winogrande_val",
    "gsm8k": "gsm8k_test",
    "pubmedqa": "pubmedqa_pqal",
}
"""Benchmark -> data set in the catalogue; Table 2's three, then Table 5's two."""
MAX_DOCUMENTS = 200
"""Asked of our model, of each benchmark."""


class Asked(Scored):
    """A model under lm-eval."""

    max_documents: int = doc(
        "Documents per benchmark, the first in the order of their hash; 0: all."
    )


class AskedGiven(Asked):
    """A model under lm-eval that was handed in."""

    checkpoint: str = doc("Folder of the paper's models.", default=NOT_GIVEN)


def estimate(params: Asked) -> Estimate:
    """Return a start and the passes over all documents."""
    if params.model not in IN_HOUSE:
        return Estimate(seconds=1800.0)
    return Estimate(seconds=1.5 + 0.25 * params.max_documents, memory_bytes=2**31)


untuned, tuned, given, given_70b = scored(
    "lisa/evaluate",
    untuned="lisa/evaluate_base",
    own={
        "smoke": Asked(model=SMALLEST, max_documents=6),
        "cpu": Asked(model=QUALITY, seed=seeds_of("cpu")[0], max_documents=MAX_DOCUMENTS),
    },
    given=AskedGiven(model="", max_documents=0),
    run=".lm_benchmarks.trial:accuracy_rows",
    needs=partial(needs_of, data=tuple(DATASETS.values()), packages=PACKAGES),
    estimate=estimate,
    uses=(USES_BASE, USES_TUNED),
)
