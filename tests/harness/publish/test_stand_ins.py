"""What stands in for what the paper names, by the trials behind a task."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from harness.declare import Experiment, Params, Profile, Table, Task, Use, columns_of, doc
from harness.publish.stand_ins import stand_ins

HERE = {
    "cifar": {"CIFAR-10": "some of its images", "ResNet20": "width 8"},
    "svhn": {"SVHN": "MNIST", "ResNet20": "width 8"},
    "food": {"Food-101": "CIFAR-10", "ViT": "two layers"},
    "itself": {},
}


class Net(Params):
    data: str = doc("What was read.")


def grid(profile: Profile) -> Iterator[Net]:
    for name in HERE if profile == "cpu" else ["itself"]:
        yield Net(data=name)


NETS = Experiment(
    "made/nets", version=1, params=Net, grid=grid, run="trial:run",
    stands_in=lambda net: HERE[net.data],
)  # fmt: skip
START = Use(experiment=NETS, params=lambda net: net)
WALKS = replace(NETS, id="made/walks", uses=(START,), stands_in=None)
TASK = Task("made/fig01", reads=(WALKS,), table=Table.of(columns_of(Net)), claims=())


@pytest.mark.parametrize(
    ("title", "names"),
    [
        ("Noise", {"CIFAR-10", "ResNet20", "SVHN", "Food-101", "ViT"}),
        # What is named, and what goes with it in each of its trials.
        ("Noise: ViT", {"Food-101", "ViT"}),
        ("CIFAR-10", {"CIFAR-10", "ResNet20"}),
        # A longer name is another one.
        ("CIFAR-100 and SVHN2", {"CIFAR-10", "ResNet20", "SVHN", "Food-101", "ViT"}),
    ],
)
def test_what_a_title_names_and_what_always_goes_with_it_count(title: str, names: set[str]) -> None:
    assert set(stand_ins(TASK, "cpu", title)) == names


def test_nothing_stands_in_at_the_paper_s_scale_and_a_variant_is_told_by_what_it_read() -> None:
    assert stand_ins(TASK, "paper", "Noise") == {}
    assert stand_ins(TASK, "paper", "Noise", {"data": "svhn"}) == HERE["svhn"]
