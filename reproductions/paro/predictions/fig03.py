"""Figure 3, its predicted half: memory and indicator, all parameters and 1/16 of them."""

from harness.declare import Task
from reproductions.paro.predictions.experiment import COMPARED, ONE_RING, predictions
from reproductions.paro.predictions.table import table_of

task = Task(
    "paro/fig03",
    reads=(predictions,),
    table=table_of(about="guideline", **ONE_RING, trainable=("1", "1/16"), strategy=COMPARED),
    figure="figures:indicator_panels",
    caption="Bars: parameters, gradients and optimizer states per GPU; a cross where they exceed 80"
    " GB. Line: the guideline's indicator log(1/T), to base 10, by communication alone. Words:"
    " gains in throughput that the paper's text quotes over ZeRO-3 (Z3) and ZeRO-2 (Z2).",
    alt="Four panels of eleven bars each, LLaMA-7B and 65B with all or 1/16 of the parameters"
    " trained. Bars of memory fall from left to right; the indicator's line is highest for"
    " strategies that gather nothing between groups.",
)
