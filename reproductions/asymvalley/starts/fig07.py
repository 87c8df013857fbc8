"""Figure 7: how BN weights start and end, and the valley then, VGG16 with BN on CIFAR-10."""

from reproductions.asymvalley.starts.claims import start_task

task = start_task("fig07", "vgg16_cifar10", place=" and section 4.2.1")
