"""Figure 25: the line between nets of weight decay 1e-3 and 1e-5, VGG16 with BN on CIFAR-10."""

from __future__ import annotations

from harness.declare import Task, bind
from reproductions.asymvalley.recipes import table
from reproductions.asymvalley.recipes.claims import LINE_ALT, LINE_CAPTION, line_claims
from reproductions.asymvalley.recipes.experiment import FIRST_AND_SECOND, recipe_lines

FIRST, SECOND = FIRST_AND_SECOND["weight_decay"]

task = Task(
    "asymvalley/fig25",
    reads=(recipe_lines,),
    table=table.line("vgg16_cifar10", "weight_decay"),
    claims=line_claims("weight_decay", "Figure 25", "VGG16 on CIFAR-10"),
    figure=bind("figures:recipe_line_panels", contrast="weight_decay"),
    caption=LINE_CAPTION.format(first=FIRST, second=SECOND),
    alt=LINE_ALT,
)
