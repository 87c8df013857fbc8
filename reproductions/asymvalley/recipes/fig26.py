"""Figure 26: the line between nets of batch size 32 and 2048, ResNet20 on CIFAR-10."""

from reproductions.asymvalley.recipes.claims import line_task

task = line_task("fig26", "resnet20_cifar10", "batch_size")
