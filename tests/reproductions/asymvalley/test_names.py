"""What stands in for what the paper names, from the parameters of the trials."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.declare.profiles import Profile
from harness.publish.stand_ins import stand_ins as told
from harness.registry import load_registry
from reproductions.asymvalley.models.pairs import PAIRS, Pair, Recipe, stands_in, training_of

LIBRARY = load_registry()
TASKS = {task.word: task for task in LIBRARY.tasks.values() if task.paper == "asymvalley"}
TOYS = ("fig02", "fig10", "fig27", "fig29")
"""At the paper's own settings."""


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("recipe", ["base", "bs_small", "bs_large"])
def test_nothing_stands_in_at_the_paper_s_setting(pair: Pair, recipe: Recipe) -> None:
    assert stands_in(training_of("paper", pair, seed=0, recipe=recipe)) == {}


@pytest.mark.parametrize("word", sorted(TASKS))
def test_a_task_says_what_it_ran_below_the_paper_s_setting(word: str) -> None:
    assert bool(told(TASKS[word], "cpu", "")) == (word not in TOYS)
    assert not told(TASKS[word], "paper", "")


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


@pytest.mark.parametrize("word", SAID)
def test_what_was_run_is_told_by_the_paper_s_name(word: str) -> None:
    here = told(TASKS[word], "cpu", "")
    assert {name: here[name] for name in SAID[word]} == SAID[word]


@pytest.mark.parametrize("profile", ["smoke", "cpu", "gpu"])
def test_names_follow_the_parameters_and_not_the_profile(profile: Profile) -> None:
    net = training_of(profile, "resnet20_svhn", seed=0)
    assert stands_in(net)["SVHN"] == ("digits" if profile == "smoke" else "MNIST")
    assert stands_in(replace(net, data="svhn", width=16)) == {}
