"""The coordinate check module by module: gradients and updates too, which the paper does not plot.

Their checks stand at Figure 5, as means over modules.
"""

from harness.declare import Task, bind
from reproductions.supar.coordinates import table
from reproductions.supar.coordinates.experiment import coordinate_check
from reproductions.supar.coordinates.quantities import FIRST_STEP
from reproductions.supar.models.claims import SPREAD

task = Task(
    "supar/coordinates",
    reads=(coordinate_check,),
    table=table.LAYERS,
    figure=bind("figures:layer_panels", steps=FIRST_STEP),
    caption="RMS of the gradient at each block's input before any update, and of the change of its"
    f" output by the first update, against density, one line per layer. {SPREAD} Titles state the"
    " least and the largest log-log slope over layers. The paper prints no such plot.",
    alt="Six panels, gradient and update by SP, μP and SμPar: root mean square against density"
    " on logarithmic axes, one line per attention and feed-forward layer.",
    own_kind="ablation",
)
