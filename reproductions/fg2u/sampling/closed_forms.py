"""What the noise of an estimate should be, by its directions."""

from __future__ import annotations

from reproductions.fg2u.sampling.experiment import COORDINATE, RADEMACHER


def expected_square(method: str, num_meta: int, num_directions: int) -> float:
    """Return the expected |estimate - g|^2 / |g|^2 of b directions among N entries.

    Rademacher: (N-1)/b, Lemma 3.1. Gaussian: (N+1)/b, as E (v.g)^2 vv^T is |g|^2 I + 2 gg^T.
    Coordinates without replacement: N/b - 1, an entry being N/b times its own with probability
    b/N, else 0.

    >>> [expected_square(m, 9, 3) for m in ("fg2u-rademacher", "fg2u-coordinate", "fg2u-zo")]
    [2.6666666666666665, 2.0, 3.3333333333333335]
    """
    if method == COORDINATE:
        return num_meta / num_directions - 1
    return (num_meta + (-1 if method == RADEMACHER else 1)) / num_directions


def directions_for(cosine: float, num_meta: int) -> float | None:
    """Return the b whose expected cosine sqrt(b / (b + N - 1)) is this one.

    0 for a cosine that is not positive; None for 1, which no b has.

    >>> round(directions_for(0.5**0.5, 9), 9)
    8.0
    """
    rest = 1.0 - cosine**2
    if rest <= 0.0:
        return None
    return cosine**2 * (num_meta - 1) / rest if cosine > 0.0 else 0.0
