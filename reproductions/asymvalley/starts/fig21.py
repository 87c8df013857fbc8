"""Figure 21: how BN weights start and end, and the valley then, ResNet20 on SVHN."""

from __future__ import annotations

from harness.declare import Task
from reproductions.asymvalley.starts import table
from reproductions.asymvalley.starts.claims import ALT, CAPTION, start_claims, start_questions
from reproductions.asymvalley.starts.experiment import batch_norm_starts

task = Task(
    "asymvalley/fig21",
    reads=(batch_norm_starts,),
    table=table.starts("resnet20_svhn"),
    claims=start_claims("Figure 21", "ResNet20 on SVHN")
    + start_questions("Figure 21", "ResNet20 on SVHN"),
    figure="figures:start_panels",
    caption=CAPTION,
    alt=ALT,
)
