"""Random streams depend on their name and on the parameters in `seed_from`, on nothing else."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from harness.declare.experiment import Experiment
from harness.declare.params import Params
from harness.declare.params import seed as a_seed
from harness.declare.profiles import Profile
from harness.store.seeds import derive_seed
from harness.store.trial import Trial

NAMES = st.sampled_from(["scheme", "density", "log2_lr", "width", "steps"])
VALUES = st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5)


class Point(Params):
    seed: int = a_seed("All that is drawn.")


def grid(profile: Profile) -> Iterator[Point]:
    yield Point(seed=0)


def trial(params: Mapping[str, Any], *, id: str = "demo/sweep", version: int = 1) -> Trial:
    experiment = Experiment(id, version=version, params=Point, grid=grid, run="trial:run")
    return Trial(experiment, params, "smoke")


@given(
    st.integers(0, 10**6), st.dictionaries(NAMES, VALUES), st.dictionaries(NAMES, VALUES), st.text()
)
def test_other_parameters_and_the_experiment_do_not_count(
    seed: int, ours: dict[str, Any], theirs: dict[str, Any], stream: str
) -> None:
    one = trial({**ours, "seed": seed}, id="demo/sweep")
    other = trial({"seed": seed, **theirs}, id="other/thing", version=7)
    assert one.seed(stream) == other.seed(stream)


@given(st.lists(st.tuples(st.integers(0, 10**9), st.text()), unique=True, min_size=2, max_size=20))
def test_seeds_and_streams_are_told_apart(pairs: list[tuple[int, str]]) -> None:
    seeds = {trial({"seed": seed}).seed(stream) for seed, stream in pairs}
    assert len(seeds) == len(pairs)


def test_value_is_the_same_on_every_machine() -> None:
    # By hand: sha256 of {"stream":"init","values":{"seed":0}}, first 16 digits, halved.
    text = b'{"stream":"init","values":{"seed":0}}'
    assert derive_seed("init", {"seed": 0}) == int(hashlib.sha256(text).hexdigest()[:16], 16) // 2
