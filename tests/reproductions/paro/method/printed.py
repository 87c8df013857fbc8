"""Memory and one-ring communication at the paper's inputs, worked out apart from the code."""

from __future__ import annotations

from dataclasses import dataclass

from reproductions.paro.method.cluster import Cluster, Workload
from reproductions.paro.method.strategy import Strategy, strategy_of

CLUSTER = Cluster(num_gpus=32, group_size=8, inter_gbit_per_s=80.0, intra_gbit_per_s=2000.0)
HPZ = Strategy(params="G", grads="G", states="G", between="I")
LETTERS = "NNN NNI NNG NII NIG NGG III ING IIG IGG GIG GGG"
STRATEGIES = (*map(strategy_of, LETTERS.split()), HPZ)


@dataclass(frozen=True, slots=True)
class Printed:
    """A setting, with gigabytes and seconds of each strategy as rounded for reading."""

    name: str
    workload: Workload
    gigabytes: str
    seconds: str


def unlike(found: list[float], printed: str) -> list[tuple[float, str]]:
    """Return the numbers that would be printed otherwise: off by more than half a last digit."""
    pairs = list(zip(found, printed.split(), strict=True))
    return [(number, text) for number, text in pairs if abs(number - float(text)) > half(text)]


def half(text: str) -> float:
    """Return half of a printed number's last digit, and what floats lose."""
    decimals = len(text.partition(".")[2])
    return 0.5 * 10.0**-decimals + 1e-9


def printed(name: str, num_params: float, share: float, held: str, seconds: str) -> Printed:
    """Return a pair of rows from what is printed."""
    workload = Workload(num_params=num_params, trainable_share=share, accumulation=10)
    return Printed(name, workload, held, seconds)


# At 65B 1/16 0.4652 s of NII is 7.4425 / 16, and NIG holds 132.54 GB.
PRINTED = (
    printed(
        "7B full", 7e9, 1.0,
        "112.0 38.5 30.6 26.2 18.4 17.1 14.0 18.4 6.1 4.8 4.8 3.5 5.2",
        "2.71 0.36 2.71 0.80 1.98 14.9 1.73 2.47 1.73 14.7 27.7 40.7 27.6",
    ),
    printed(
        "7B 1/16", 7e9, 1 / 16,
        "20.1 15.5 15.0 14.8 14.3 14.2 2.5 2.8 2.0 1.9 0.7 0.6 2.4",
        "0.17 0.02 0.17 0.05 0.12 0.93 1.03 1.07 1.03 1.84 27.2 28.0 14.9",
    ),
    printed(
        "65B full", 65e9, 1.0,
        "1040 357 284 244 171 158 130 171 56.9 44.7 44.7 32.5 48.8",
        "25.2 3.35 25.2 7.44 18.4 139 16.1 22.9 16.1 136 258 378 256",
    ),
    printed(
        "65B 1/16", 65e9, 1 / 16,
        "187 144 140 137 133 132 23.4 25.9 18.8 18.0 6.6 5.8 22.1",
        "1.57 0.21 1.57 0.47 1.15 8.66 9.54 9.96 9.54 17.0 252 260 138",
    ),
    printed(
        "65B 3/1000", 65e9, 3 / 1000,
        "133 131 130 130 130 130 16.6 16.7 16.4 16.3 4.2 4.1 20.4",
        "0.08 0.01 0.08 0.02 0.06 0.42 9.12 9.14 9.12 9.48 252 252 131",
    ),
)  # fmt: skip
