"""Figure 7: how BN weights start and end, and the valley then, VGG16 with BN on CIFAR-10."""

from __future__ import annotations

from harness.declare import Task
from reproductions.asymvalley.starts import table
from reproductions.asymvalley.starts.claims import ALT, CAPTION, start_claims, start_questions
from reproductions.asymvalley.starts.experiment import batch_norm_starts

task = Task(
    "asymvalley/fig07",
    reads=(batch_norm_starts,),
    table=table.starts("vgg16_cifar10"),
    claims=start_claims("Figure 7 and section 4.2.1", "VGG16 on CIFAR-10")
    + start_questions("Figure 7 and section 4.2.1", "VGG16 on CIFAR-10"),
    figure="figures:start_panels",
    caption=CAPTION,
    alt=ALT,
)
