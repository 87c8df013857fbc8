"""Figure 20: noise on one group of the parameters of ResNet50, trained on ImageNet."""

from reproductions.asymvalley.valleys.claims import group_task

task = group_task("fig20", "resnet50_imagenet", "error")
