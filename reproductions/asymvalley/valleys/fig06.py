"""Figure 6: noise on one group of the parameters of ResNeXt101, trained on ImageNet."""

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
    "asymvalley/fig06",
    reads=(group_noises,),
    table=table.groups("resnext101_imagenet"),
    claims=group_claims(
        "Figure 6", groups_are_asymmetric("ResNeXt101"), groups_are_asymmetric("ResNeXt101", "ce")
    ),
    figure="figures:group_panels",
    caption=GROUP_CAPTION,
    alt=GROUP_ALT,
)
