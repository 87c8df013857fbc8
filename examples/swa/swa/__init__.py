"""SWA: the mean of the weights along SGD's path (Izmailov et al., UAI 2018)."""

from swa.average import WeightAverage

__all__ = ["WeightAverage"]
