"""Figure 23: the valley under G(0,1) noise after six training recipes, ResNet20 on CIFAR-10."""

from __future__ import annotations

from harness.declare import Task
from reproductions.asymvalley.recipes import table
from reproductions.asymvalley.recipes.claims import RECIPE_ALT, RECIPE_CAPTION, recipe_claims
from reproductions.asymvalley.recipes.experiment import recipes

task = Task(
    "asymvalley/fig23",
    reads=(recipes,),
    table=table.curves("resnet20_cifar10"),
    claims=recipe_claims("Figure 23", "ResNet20"),
    figure="figures:recipe_panels",
    caption=RECIPE_CAPTION,
    alt=RECIPE_ALT,
)
