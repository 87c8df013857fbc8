"""What stands in for what the paper names, from the parameters of the trials."""

from __future__ import annotations

from dataclasses import replace

import pytest
from harness.publish.labels import labels_of

from harness.declare.profiles import Profile
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
    assert bool(labels_of(TASKS[word], "cpu").here) == (word not in TOYS)
    assert not labels_of(TASKS[word], "paper").here


SAID = {
    ("fig12", "ResNet20 on SVHN"): "ResNet20 (here width 8 of 16) on SVHN (here MNIST)",
    ("fig13", "VGG11 on CIFAR-100"): "VGG11 (here width 16 of 64) on CIFAR-100 (here 5,000 of its"
    " images)",
    ("fig15", "ViT on Food-101"): "ViT (here 2 layers of width 64) on Food-101 (here CIFAR-10)",
    ("fig06", "ResNeXt101 on ImageNet"): "ResNeXt101 (here ResNet20) on ImageNet (here CIFAR-10)",
    ("fig20", "ResNet50"): "ResNet50 (here ResNet44)",
    ("fig08", "batch size 32 and batch size 2048"): "batch size 32 (here 16) and batch size 2048"
    " (here 512)",
    ("fig11", "ResNet18 on Flowers"): "ResNet18 (here ResNet20) on Flowers (here 5,000 images of"
    " CIFAR-100)",
    ("tab01", "CIFAR-10 and CINIC-10"): "CIFAR-10 (here 10,000 of its images) and CINIC-10 (here"
    " MNIST)",
}  # fmt: skip


@pytest.mark.parametrize(("word", "text"), SAID)
def test_a_name_of_the_paper_is_followed_by_what_was_run(word: str, text: str) -> None:
    assert labels_of(TASKS[word], "cpu").names(text) == SAID[word, text]


@pytest.mark.parametrize("profile", ["smoke", "cpu", "gpu"])
def test_names_follow_the_parameters_and_not_the_profile(profile: Profile) -> None:
    net = training_of(profile, "resnet20_svhn", seed=0)
    assert stands_in(net)["SVHN"] == ("digits" if profile == "smoke" else "MNIST")
    assert stands_in(replace(net, data="svhn", width=16)) == {}
