"""Figure 18: valleys along six directions made of the weights, AlexNet on Food-101."""

from reproductions.asymvalley.valleys.claims import direction_task

task = direction_task("fig18", "alexnet_food101")
