"""How noisy an estimate is expected to be, by its directions: Lemma 3.1 and its companions.

Source: Shen et al., arXiv 2406.14095. No torch: figures draw these too.
"""

from __future__ import annotations


def expected_square(kind: str, num_entries: int, count: int) -> float | None:
    """Return the expected |estimate - g|^2 / |g|^2 of b directions among N entries.

    Random signs: (N-1)/b, Lemma 3.1. Gaussian: (N+1)/b, as E (v.g)^2 vv^T is |g|^2 I + 2 gg^T.
    Coordinates without replacement: N/b - 1, an entry being N/b times its own with probability
    b/N, else 0. None for a grid, whose error is another for each problem.

    >>> [expected_square(kind, 9, 3) for kind in ("rademacher", "gaussian", "coordinate")]
    [2.6666666666666665, 3.3333333333333335, 2.0]
    """
    match kind:
        case "rademacher" | "philox":
            return (num_entries - 1) / count
        case "gaussian":
            return (num_entries + 1) / count
        case "coordinate":
            return num_entries / count - 1
    return None


def directions_for(cosine: float, num_entries: int) -> float | None:
    """Return the b whose expected cosine, sqrt(b / (b + N - 1)), is this; None where none is.

    >>> round(directions_for(0.5**0.5, 9), 9)
    8.0
    """
    if not 0.0 < cosine < 1.0:
        return None
    return cosine**2 * (num_entries - 1) / (1.0 - cosine**2)
