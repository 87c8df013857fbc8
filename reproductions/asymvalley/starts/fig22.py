"""Figure 22: how BN weights start and end, and the valley then, ResNet20 on CIFAR-100."""

from __future__ import annotations

from harness.declare import Task
from reproductions.asymvalley.starts import table
from reproductions.asymvalley.starts.claims import ALT, CAPTION, start_claims, start_questions
from reproductions.asymvalley.starts.experiment import batch_norm_starts

task = Task(
    "asymvalley/fig22",
    reads=(batch_norm_starts,),
    table=table.starts("resnet20_cifar100"),
    claims=start_claims("Figure 22", "ResNet20 on CIFAR-100")
    + start_questions("Figure 22", "ResNet20 on CIFAR-100"),
    figure="figures:start_panels",
    caption=CAPTION,
    alt=ALT,
)
