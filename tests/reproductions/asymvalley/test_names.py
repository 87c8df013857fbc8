"""What stands in for what the paper names, from the parameters of the trials."""

from __future__ import annotations

import pytest

from harness.publish.stand_ins import stand_ins as told
from reproductions.asymvalley.models.pairs import PAIRS, Recipe, stands_in, training_of
from tests.reproductions.asymvalley.claims import TASKS

TOYS = ("fig02", "fig10", "fig27", "fig29")
"""At the paper's own settings."""


@pytest.mark.parametrize("recipe", ["base", "bs_small", "bs_large"])
def test_nothing_stands_in_at_the_paper_s_setting(recipe: Recipe) -> None:
    for pair in PAIRS:
        assert stands_in(training_of("paper", pair, seed=0, recipe=recipe)) == {}, pair


def test_a_task_says_what_it_ran_below_the_paper_s_setting() -> None:
    for word, task in TASKS.items():
        assert bool(told(task, "cpu", "")) == (word not in TOYS), word
        assert not told(task, "paper", ""), word


SAID = {
    "fig12": {"ResNet20": "width 8 of 16", "SVHN": "MNIST"},
    "fig13": {"VGG11": "width 16 of 64", "CIFAR-100": "5,000 of its images"},
    "fig15": {"ViT": "2 layers of width 64", "Food-101": "CIFAR-10"},
    "fig06": {"ResNeXt101": "ResNet20", "ImageNet": "CIFAR-10"},
    "fig20": {"ResNet50": "ResNet44"},
    "fig08": {"batch size 32": "16", "batch size 2048": "512"},
    "fig11": {"ResNet18": "ResNet20", "Flowers": "5,000 images of CIFAR-100"},
    "tab01": {"CIFAR-10": "10,000 of its images", "CINIC-10": "MNIST"},
}


def test_what_was_run_is_told_by_the_paper_s_name() -> None:
    for word, said in SAID.items():
        here = told(TASKS[word], "cpu", "")
        assert {name: here[name] for name in said} == said, word
