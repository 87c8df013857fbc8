"""Every claim of (FG)2U on hand-made tables: it holds, it fails, its control fails, and two seeds
decide nothing.

Each study's tests make the tables; `Case` is what their numbers are made to say.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pandas as pd
import pytest

from harness.declare.claims import Claim
from harness.declare.profiles import Profile
from harness.declare.task import Task
from harness.declare.verdict import Word
from reproductions.fg2u.adaptation import abl_base_model, abl_depth, tab02, tabg1, tabg2
from reproductions.fg2u.coefficients import fig02, fige1
from reproductions.fg2u.condensing import abl_two_phase
from reproductions.fg2u.differences import abl_mu
from reproductions.fg2u.identities import theory
from reproductions.fg2u.image_sets import tab01
from reproductions.fg2u.live_memory import abl_memory
from reproductions.fg2u.overview import fig01
from reproductions.fg2u.sampling import abl_directions, abl_distribution
from tests.reproductions.fg2u.adaptation import test_claims as adaptation
from tests.reproductions.fg2u.coefficients import test_claims as coefficients
from tests.reproductions.fg2u.condensing import hand_made as condensing
from tests.reproductions.fg2u.differences import test_differences as differences
from tests.reproductions.fg2u.identities import test_checks as identities
from tests.reproductions.fg2u.image_sets import test_claims as image_sets
from tests.reproductions.fg2u.live_memory import hand_made as live_memory
from tests.reproductions.fg2u.overview import test_claims as overview
from tests.reproductions.fg2u.sampling import hand_made as sampling
from tests.reproductions.fg2u.trials import Case
from tests.verdicts import decide, judge

Made = Callable[[Case, Profile], pd.DataFrame]
MADE: list[tuple[Task, Made]] = [
    *((each.task, partial(adaptation.table_of, each.task))
      for each in (tab02, tabg1, tabg2, abl_depth, abl_base_model)),
    (fig02.task, coefficients.table_of),
    (fige1.task, coefficients.solution_table),
    (abl_two_phase.task, condensing.table_of),
    (abl_mu.task, differences.table_of),
    (theory.task, identities.table_of),
    (tab01.task, image_sets.table_of),
    (abl_memory.task, live_memory.table_of),
    (fig01.task, overview.table_of),
    *((each.task, partial(sampling.table_of, each.task))
      for each in (abl_directions, abl_distribution)),
]  # fmt: skip
CLAIMS = [
    pytest.param(task, claim, table_of, id=f"{task.word}-{claim.id}")
    for task, table_of in MADE
    for claim in task.claims
]


@pytest.mark.parametrize(("task", "claim", "table_of"), CLAIMS)
def test_claim_on_three_tables(task: Task, claim: Claim, table_of: Made) -> None:
    profiles = claim.scope.profiles
    profile: Profile = "cpu" if "cpu" in profiles else profiles[0]
    # Exact gradients are the control of claims that do not ask about them.
    asked = claim.id.startswith(("rgu_no_worse", "learned_beats_equal"))
    fails = table_of("exact_low" if asked else "fails", profile)
    judge(task, claim, holds=table_of("holds", profile), fails=fails)
    if claim.scope.control:
        weak = decide(task, claim, table_of("weak", profile))
        assert (weak.word, weak.control) == (Word.UNTESTED, "failed")
