"""Figure 24: the line between nets of learning rate 0.1 and 0.003, VGG16 with BN on CIFAR-10."""

from __future__ import annotations

from harness.declare import Task, bind
from reproductions.asymvalley.recipes import table
from reproductions.asymvalley.recipes.claims import LINE_ALT, LINE_CAPTION, line_claims
from reproductions.asymvalley.recipes.experiment import FIRST_AND_SECOND, recipe_lines

FIRST, SECOND = FIRST_AND_SECOND["lr"]

task = Task(
    "asymvalley/fig24",
    reads=(recipe_lines,),
    table=table.line("vgg16_cifar10", "lr"),
    claims=line_claims("lr", "Figure 24", "VGG16 on CIFAR-10"),
    figure=bind("figures:recipe_line_panels", contrast="lr"),
    caption=LINE_CAPTION.format(first=FIRST, second=SECOND),
    alt=LINE_ALT,
)
