"""Every claim, on tables where it holds, fails, is about nothing, has few seeds, or no rows."""

from __future__ import annotations

import pytest

from harness.declare.verdict import Word
from tests.reproductions.asymvalley.activations import hand_made as activations
from tests.reproductions.asymvalley.claims import TASKS, decide, named
from tests.reproductions.asymvalley.federated import hand_made as federated
from tests.reproductions.asymvalley.halves import hand_made as halves
from tests.reproductions.asymvalley.recipes import hand_made as recipes
from tests.reproductions.asymvalley.starts import hand_made as starts
from tests.reproductions.asymvalley.toys import hand_made as toys
from tests.reproductions.asymvalley.trained_nets import hand_made as trained_nets
from tests.reproductions.asymvalley.valleys import hand_made as valleys
from tests.verdicts import bad, good

STUDIES = (valleys, starts, recipes, halves, activations, trained_nets, toys, federated)
TABLES = {word: make for study in STUDIES for word, make in study.TABLES.items()}
EVERY = [f"{word}:{claim.id}" for word, task in TASKS.items() for claim in task.claims]


@pytest.mark.parametrize("address", EVERY)
def test_claim_is_decided_as_its_table_was_made(address: str) -> None:
    (_, claim), make = named(address), TABLES[address.split(":")[0]]
    holds = make("holds")
    verdict = decide(address, holds)
    assert (verdict.word, verdict.reason) == (good(claim), "")
    assert decide(address, make("fails")).word is bad(claim)
    assert decide(address, holds[:0]).word is Word.UNTESTED
    few = holds[holds["seed"] < 2] if "seed" in holds else holds
    if claim.scope.deterministic:
        assert decide(address, few).word is good(claim)
    else:
        assert decide(address, few).word is Word.UNDECIDED
        # Ties pass no strict claim, and no share of nothing is small.
        assert decide(address, make("flat")).word in (Word.CONTRADICTED, Word.UNDECIDED)
