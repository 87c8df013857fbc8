"""Memory and one-ring communication at the paper's inputs, worked out apart from the code."""

from __future__ import annotations

from reproductions.paro.method.cluster import Cluster, Workload
from reproductions.paro.method.strategy import Strategy, strategy_of

CLUSTER = Cluster(num_gpus=32, group_size=8, inter_gbit_per_s=80.0, intra_gbit_per_s=2000.0)
HPZ = Strategy(params="G", grads="G", states="G", between="I")
LETTERS = "NNN NNI NNG NII NIG NGG III ING IIG IGG GIG GGG"
STRATEGIES = (*map(strategy_of, LETTERS.split()), HPZ)

# At 65B 1/16 0.4652 s of NII is 7.4425 / 16, and NIG holds 132.54 GB.
PRINTED = {
    "7B full": (
        Workload(num_params=7e9, trainable_share=1.0, accumulation=10),
        "112.0 38.5 30.6 26.2 18.4 17.1 14.0 18.4 6.1 4.8 4.8 3.5 5.2",
        "2.71 0.36 2.71 0.80 1.98 14.9 1.73 2.47 1.73 14.7 27.7 40.7 27.6",
    ),
    "65B 1/16": (
        Workload(num_params=65e9, trainable_share=1 / 16, accumulation=10),
        "187 144 140 137 133 132 23.4 25.9 18.8 18.0 6.6 5.8 22.1",
        "1.57 0.21 1.57 0.47 1.15 8.66 9.54 9.96 9.54 17.0 252 260 138",
    ),
}
"""Each setting, with gigabytes and seconds of each strategy as rounded for reading."""


def unlike(found: list[float], printed: str) -> list[tuple[float, str]]:
    """Return the numbers that would be printed otherwise: off by more than half a last digit."""
    pairs = list(zip(found, printed.split(), strict=True))
    return [(number, text) for number, text in pairs if abs(number - float(text)) > half(text)]


def half(text: str) -> float:
    """Return half of a printed number's last digit, and what floats lose."""
    decimals = len(text.partition(".")[2])
    return 0.5 * 10.0**-decimals + 1e-9
