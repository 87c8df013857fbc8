"""Figure 8: the line between nets of batch size 32 and 2048, VGG16 with BN on CIFAR-10."""

from __future__ import annotations

from harness.declare import Task, bind
from reproductions.asymvalley.recipes import table
from reproductions.asymvalley.recipes.claims import LINE_ALT, LINE_CAPTION, line_claims
from reproductions.asymvalley.recipes.experiment import FIRST_AND_SECOND, recipe_lines

FIRST, SECOND = FIRST_AND_SECOND["batch_size"]

task = Task(
    "asymvalley/fig08",
    reads=(recipe_lines,),
    table=table.line("vgg16_cifar10", "batch_size"),
    claims=line_claims("batch_size", "Figure 8 and section 4.2.2", "VGG16 on CIFAR-10"),
    figure=bind("figures:recipe_line_panels", contrast="batch_size"),
    caption=LINE_CAPTION.format(first=FIRST, second=SECOND),
    alt=LINE_ALT,
)
