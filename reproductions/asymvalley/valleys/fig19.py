"""Figure 19: valleys along six directions made of the weights, ViT on Food-101."""

from reproductions.asymvalley.valleys.claims import direction_task

task = direction_task("fig19", "vit_food101")
