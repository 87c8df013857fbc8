"""What stands in for what the paper names is said where it is named."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from harness.declare import Experiment, Params, Profile, Table, Task, Use, columns_of, doc
from harness.publish.labels import Labels, labels_of

IMAGES = Labels({"CIFAR-10": "some of its images", "SVHN": "MNIST", "ResNet20": "width 8"})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ResNet20 on SVHN", "ResNet20 (here width 8) on SVHN (here MNIST)"),
        ("SVHN and SVHN again", "SVHN (here MNIST) and SVHN again"),
        # A longer name is another one.
        ("CIFAR-100 and SVHN2", "CIFAR-100 and SVHN2"),
        ("CIFAR-10.", "CIFAR-10 (here some of its images)."),
    ],
)
def test_names_are_told_once_and_whole(text: str, expected: str) -> None:
    assert IMAGES.names(text) == expected


NETS = Labels(
    {**IMAGES.here, "ViT": "two layers", "Food-101": "CIFAR-10", "batch 32": "16"},
    (
        frozenset({"CIFAR-10", "ResNet20"}),
        frozenset({"CIFAR-10", "ResNet20", "batch 32"}),
        frozenset({"SVHN", "ResNet20"}),
        frozenset({"Food-101", "ViT"}),
    ),
)


def test_only_what_a_title_names_counts_and_what_always_goes_with_it() -> None:
    assert NETS.within("Noise: ViT").here == {"Food-101": "CIFAR-10", "ViT": "two layers"}
    assert set(NETS.within("CIFAR-10").here) == {"CIFAR-10", "ResNet20"}
    assert NETS.within("Noise") == NETS


class Net(Params):
    data: str = doc("What was read.")


def grid(profile: Profile) -> Iterator[Net]:
    yield Net(data="svhn" if profile == "paper" else "mnist")


def stands_in(net: Net) -> dict[str, str]:
    return {} if net.data == "svhn" else {"SVHN": net.data.upper()}


def test_labels_come_from_the_trials_that_a_task_starts_from() -> None:
    nets = Experiment(
        "made/nets", version=1, params=Net, grid=grid, run="trial:run", stands_in=stands_in
    )
    start = Use(experiment=nets, params=lambda net: net)
    walks = replace(nets, id="made/walks", uses=(start,), stands_in=None)
    task = Task("made/fig01", reads=(walks,), table=Table.of(columns_of(Net)), claims=())
    assert labels_of(task, "cpu").here == {"SVHN": "MNIST"}
    assert labels_of(task, "paper").here == {}
    # A value that names nothing of the paper, as what was read itself, says nothing more.
    assert labels_of(task, "cpu").level("data", "mnist") == "mnist"
    # A variant is told by what it read, not by what the grid reads.
    assert labels_of(task, "cpu", overrides={"data": "digits"}).here == {"SVHN": "DIGITS"}
