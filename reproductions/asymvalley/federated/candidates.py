"""The coefficient of each algorithm: its name, what is tried, how it is written. No torch.

Every algorithm tries equally many. FedAvg has no coefficient: it tries as many weight decays,
which the others leave at the default. A candidate is a word, so that a record holds it whole.
"""

from __future__ import annotations

from harness.errors import SpecError

ALGORITHMS = ("fedavg", "fedprox", "moon", "feddyn", "fedpan", "fedsign")
"""In the order of Table 1."""
COEFFICIENTS = {
    "fedavg": "weight_decay",
    "fedprox": "mu",
    "moon": "mu",
    "feddyn": "a",
    "fedpan": "encoding",
    "fedsign": "gamma",
}
"""What a candidate sets."""
CANDIDATES = {
    "fedavg": "1e-5 1e-4 5e-4",
    "fedprox": "0.001 0.01 0.1",
    "moon": "0.01 0.1 1",
    "feddyn": "0.001 0.01 0.1",
    "fedpan": "1:mul:0.05 4:mul:0.1 1:add:0.15",
    "fedsign": "0.0001 0.001 0.01",
}
"""From the lists of the authors' and the peers' code; FedSign's leave out 0.1, which destroys
small nets, and have 1e-4 instead. Ascending, since a tie goes to the first."""
PAPER_CANDIDATES = CANDIDATES | {"fedsign": "0.001 0.01 0.1"}
"""Section 6.2 has these three for FedSign."""


def parse_candidates(text: str) -> list[str]:
    """Return the words of a list of candidates. Raises SpecError for none, or a repeated one."""
    words = text.split()
    if not words or len(set(words)) != len(words):
        raise SpecError(f"candidates={text!r}: need at least one, each of them once")
    return words


def coefficient_of(candidate: str) -> float:
    """Return a candidate as a number; of a position encoding, its amplitude.

    >>> coefficient_of("0.01"), coefficient_of("4:mul:0.1")
    (0.01, 0.1)
    """
    return float(candidate.split(":")[-1])
