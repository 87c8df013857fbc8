"""Figure 16: valleys along six directions made of the weights, ResNet20 on SVHN."""

from reproductions.asymvalley.valleys.claims import direction_task

task = direction_task("fig16", "resnet20_svhn")
