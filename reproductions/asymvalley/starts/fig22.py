"""Figure 22: how BN weights start and end, and the valley then, ResNet20 on CIFAR-100."""

from reproductions.asymvalley.starts.claims import start_task

task = start_task("fig22", "resnet20_cifar100")
