"""Figure 12: norms by layer of Mistral-7B."""

from harness.declare import Task
from reproductions.lisa.norms import table
from reproductions.lisa.norms.experiment import drawn
from reproductions.lisa.norms.fig02 import of_drawn

task = Task(
    "lisa/fig12",
    reads=(drawn,),
    table=table.norms_of("mistral-7b", seed=table.DRAW),
    claims=of_drawn("mistral-7b", where="Figure 12"),
    figure="figures:norm_panels",
    caption="L2 norm of a layer's adapters of rank 128 before any step: as drawn (plus signs) and"
    " in closed form (grey band). E is the token embedding, H is the head. The paper's values are"
    " not known to us. Points: mean over draws; bars: standard error.",
    alt="Layer norms of untrained adapters on a log axis: they lie on the closed form of the"
    " initialiser, far higher at the embedding than at the blocks and lowest at the head.",
)
