"""Figure 3, its predicted half: memory and indicator, all parameters and 1/16 of them."""

from __future__ import annotations

from harness.declare import Task
from reproductions.paro.predictions.experiment import predictions
from reproductions.paro.predictions.table import indicator_table

task = Task(
    "paro/fig03",
    reads=(predictions,),
    table=indicator_table("1", "1/16"),
    figure="figures:indicator_panels",
    caption="Bars: parameters, gradients and optimizer states per GPU; a cross where they alone"
    " exceed 80 GB. Line: the indicator log(1/T), to base 10, by communication alone with"
    " collectives of all GPUs as one ring. 32 GPUs in groups of 8, 10 micro-batches. All by"
    " formula: nothing was run. Words: gains in throughput that the paper's text quotes (Z3:"
    " over ZeRO-3, Z2: over ZeRO-2); its bars are in a picture, and the base of its logarithm is"
    " not stated.",
    alt="Four panels of eleven bars each, LLaMA-7B and 65B with all or 1/16 of the parameters"
    " trained: bars of memory fall from left to right, and the indicator's line is highest for"
    " strategies that gather nothing between groups.",
)
