"""Figure 4, its predicted half: memory and indicator, 3/1000 of the parameters."""

from harness.declare import Task
from reproductions.paro.predictions.experiment import COMPARED, ONE_RING, predictions
from reproductions.paro.predictions.table import table_of

task = Task(
    "paro/fig04",
    reads=(predictions,),
    table=table_of(about="guideline", **ONE_RING, trainable="3/1000", strategy=COMPARED),
    figure="figures:indicator_panels",
    caption="As Figure 3, for LLaMA-65B with 3/1000 of the parameters trained. Bars: parameters,"
    " gradients and optimizer states per GPU; a cross where they exceed 80 GB. Line: the indicator"
    " log(1/T), to base 10, by communication alone. Words: the quoted gain over ZeRO-3.",
    alt="One panel of eleven bars for LLaMA-65B. Strategies that keep all parameters do not fit;"
    " the indicator is highest and nearly level for III, ING, IIG and IGG, and lowest for ZeRO-3.",
)
