"""Figure 6: noise on one group of the parameters of ResNeXt101, trained on ImageNet."""

from reproductions.asymvalley.valleys.claims import group_task

task = group_task("fig06", "resnext101_imagenet", "error", "ce")
