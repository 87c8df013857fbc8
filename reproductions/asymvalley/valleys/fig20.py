"""Figure 20: noise on one group of the parameters of ResNet50, trained on ImageNet."""

from __future__ import annotations

from harness.declare import Task
from reproductions.asymvalley.valleys import table
from reproductions.asymvalley.valleys.claims import (
    GROUP_ALT,
    GROUP_CAPTION,
    group_claims,
    groups_are_asymmetric,
)
from reproductions.asymvalley.valleys.experiment import group_noises

task = Task(
    "asymvalley/fig20",
    reads=(group_noises,),
    table=table.groups("resnet50_imagenet"),
    claims=group_claims("Figure 20", groups_are_asymmetric("ResNet50")),
    figure="figures:group_panels",
    caption=GROUP_CAPTION,
    alt=GROUP_ALT,
)
