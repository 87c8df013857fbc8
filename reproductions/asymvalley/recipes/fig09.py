"""Figure 9: the valley under G(0,1) noise after six training recipes, VGG16 with BN on CIFAR-10."""

from __future__ import annotations

from harness.declare import Task
from reproductions.asymvalley.recipes import table
from reproductions.asymvalley.recipes.claims import (
    RECIPE_ALT,
    RECIPE_CAPTION,
    SIGN_NOISE,
    recipe_claims,
)
from reproductions.asymvalley.recipes.experiment import recipes

task = Task(
    "asymvalley/fig09",
    reads=(recipes,),
    table=table.curves("vgg16_cifar10"),
    claims=recipe_claims("Figure 9 and section 4.2.2", "VGG16", SIGN_NOISE),
    figure="figures:recipe_panels",
    caption=RECIPE_CAPTION,
    alt=RECIPE_ALT,
)
