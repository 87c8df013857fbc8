"""Figure 21: how BN weights start and end, and the valley then, ResNet20 on SVHN."""

from reproductions.asymvalley.starts.claims import start_task

task = start_task("fig21", "resnet20_svhn")
