"""Every check holds and fails on hand-made tables, and fails where the method is broken."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import pytest
import torch

from harness.declare.claims import Claim
from harness.declare.profiles import Profile
from harness.declare.verdict import Word
from reproductions.fg2u.identities import estimators
from reproductions.fg2u.identities.experiment import Statement
from reproductions.fg2u.identities.theory import task
from reproductions.fg2u.identities.trial import GROUPS
from reproductions.fg2u.method.implicit import Neumann
from tests.golden_rows import load_golden
from tests.patches import Patch, around, patched
from tests.reproductions.fg2u.golden import SHORTER, WHOLE
from tests.reproductions.fg2u.trials import Case
from tests.verdicts import controlled

FORWARD, REVERSE = "reproductions.fg2u.method.forward", "reproductions.fg2u.method.reverse"
QUADRATICS = "reproductions.fg2u.identities.quadratics"
DESCENT = "reproductions.fg2u.identities.descent"
ZERO_CHECKS = (
    *("slopes", "forward", "chunks", "workers", "mixflow", "released_exact", "mean"),
    *("squared_error", "one_step", "full_truncation", "closed_form", "converged", "series_tail"),
    *("implicit_error", "series_unrolls", "first_term", "early_seen", "isotropic"),
)
RATIOS = {
    "early_unseen": (0.0, 1e-9),
    "descent": (0.7, 1.01),
    "truncation": (0.2, 1.01),
    "mixflow_bytes": (1.04, 1.06),
    "forward_flops": (3.0, 3.1),
    "zo_flops": (0.7, 1.1),
}
"""What holds, and what does not."""


def table_of(case: Case, profile: Profile = "smoke") -> pd.DataFrame:
    """Two rows of each check, one of which is as it should be in both tables."""
    rows = []
    for x in (1.0, 2.0):
        fine = case == "holds" or x == 2.0
        for check in ZERO_CHECKS:
            rows.append({"check": check, "x": x, "difference": 0.0 if fine else 1e-3})
        for check, (right, wrong) in RATIOS.items():
            rows.append({"check": check, "x": x, "ratio": right if fine else wrong})
    frame = pd.DataFrame(rows).assign(setting="one", statement="one")
    return frame.assign(difference=frame["difference"].where(frame["check"] != "truncation", 0.1))


def word(claim: Claim, frame: pd.DataFrame) -> Word:
    return controlled(claim, frame, seed=None).word


@dataclass(frozen=True, kw_only=True)
class Broken(Patch):
    """A method that is broken on purpose."""

    group: Statement
    fails: set[str]
    """The checks that see it, all of them, among those of the group."""


BROKEN = {
    "a tangent is lost": Broken(
        where=f"{FORWARD}:Fg2u.slopes",
        instead=around(
            lambda slopes, method, problem, phi, batch, rows: slopes(
                method, problem, phi, batch, {**rows, "rates": torch.zeros_like(rows["rates"])}
            )
        ),
        group="estimators",
        fails={"slopes_are_products", "coordinates_are_exact"},
    ),
    "the last chunk is lost": Broken(
        where=f"{FORWARD}:_chunks",
        instead=around(lambda chunks, numbers, size: list(chunks(numbers, size))[:1]),
        group="estimators",
        fails={"chunks_do_not_matter"},
    ),
    "workers overlap": Broken(
        where="reproductions.fg2u.method.workers:Workers.own",
        instead=around(lambda own, workers, count: range(min(own(workers, count).stop, count))),
        group="estimators",
        fails={"workers_do_not_matter"},
    ),
    "truncation keeps a step fewer": Broken(
        where=SHORTER.where,
        instead=SHORTER.instead,
        group="estimators",
        fails={"full_truncation_is_rgu"},
    ),
    "mixflow walks back a step too early": Broken(
        where=f"{REVERSE}:RguMixflow._back",
        instead=around(
            lambda back, self, step, state, phi, batch, number, adjoint: back(
                self, step, state, phi, batch, max(0, number - 1), adjoint
            )
        ),
        group="estimators",
        fails={"mixflow_is_rgu", "released_without_momentum"},
    ),
    "a sign is missing": Broken(
        where="reproductions.fg2u.identities.directions:sign_vectors",
        instead=around(lambda signs, size: signs(size)[1:] if size > 1 else signs(size)),
        group="directions",
        fails={"mean_is_the_gradient", "squared_error", "early_phi_seen"},
    ),
    "nothing is detached": Broken(
        where=WHOLE.where,
        instead=WHOLE.instead,
        group="directions",
        fails={"early_phi_unseen"},
    ),
    "steps are too long": Broken(
        where=f"{QUADRATICS}:step_size",
        instead=around(lambda size, rho, smoothness: 2.5 * size(rho, smoothness)),
        group="descent",
        fails={"descent_within_bound", "isotropic_closed_form"},
    ),
    "the noise is forgotten": Broken(
        where=f"{DESCENT}:moment_after",
        instead=around(lambda after, *given, beta, b: after(*given, beta=beta, b=10**6)),
        group="descent",
        fails={"moments_are_exact"},
    ),
    "the series has a term more": Broken(
        where="reproductions.fg2u.method.implicit:Neumann.parts",
        instead=around(
            lambda parts, neumann, *given: parts(
                Neumann(terms=neumann.terms + 1, alpha=neumann.alpha), *given
            )
        ),
        group="biases",
        fails={"series_tail", "implicit_error", "series_unrolls", "first_term_is_last_step"},
    ),
    "the bound forgets the steps before": Broken(
        where=f"{QUADRATICS}:Quadratic.truncation_bound",
        instead=around(lambda bound, quadratic, phi, keep: 0.2 * bound(quadratic, phi, keep)),
        group="biases",
        fails={"truncation_within_bound"},
    ),
    "the unroll runs twice": Broken(
        where=f"{FORWARD}:Fg2u.slopes",
        instead=around(
            lambda slopes, method, problem, phi, *given: (
                problem.unroll(phi, None),
                slopes(method, problem, phi, *given),
            )[1]
        ),
        group="costs",
        fails={"one_direction_flops", "chunk_flops"},
    ),
    "mixflow keeps the momentum for nothing": Broken(
        where="reproductions.fg2u.method.optimizers:Sgd.slots_matter",
        instead=lambda matters: True,
        group="costs",
        fails={"mixflow_keeps_theta"},
    ),
}


@pytest.fixture(scope="module")
def whole() -> pd.DataFrame:
    """The golden rows, on which every check holds."""
    trials = load_golden("fg2u/identities")["trials"]
    return pd.DataFrame([{**trial["params"], **row} for trial in trials for row in trial["rows"]])


def test_checks_hold_on_golden_rows(whole: pd.DataFrame) -> None:
    assert {word(claim, whole) for claim in task.claims} == {Word.HOLDS}


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN)
def test_a_broken_method_is_seen(
    broken: Broken, whole: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    # One optimizer that remembers shows it.
    monkeypatch.setattr(estimators, "OPTIMIZERS", ("momentum",))
    with patched(broken):
        rows = pd.DataFrame(GROUPS[broken.group]()).assign(statement=broken.group)
    now = pd.concat([whole[whole["statement"] != broken.group], rows])
    failed = {claim.id for claim in task.claims if word(claim, now) is Word.FAILS}
    assert failed == broken.fails
