"""The search for base hyperparameters on the dense proxy; a pilot of our own."""

from harness.declare import Table, Task, columns_of
from reproductions.supar.models.points import FixedPoint
from reproductions.supar.models.tables import PLACE, TRAINED, runs
from reproductions.supar.pilot.experiment import pilot_search

task = Task(
    "supar/pilot_search",
    reads=(pilot_search,),
    table=Table.of(
        PLACE,
        columns_of(FixedPoint, "init_std", "lr", "input_multiplier", "output_multiplier"),
        TRAINED,
        make=lambda tables: runs(tables[pilot_search.id]),
    ),
    figure="figures:search_panels",
    caption="Validation loss of the small dense proxy against the learning rate and the initial"
    " standard deviation of 60 random configurations a scheme, mean of two seeds. A ring marks the"
    " least one, whose hyperparameters the nets of the run have. Diverged runs have no point.",
    alt="Four panels: validation loss against log2 learning rate and against log2 initial standard"
    " deviation, for SP and for μP, the least loss ringed.",
    own_kind="ablation",
)
