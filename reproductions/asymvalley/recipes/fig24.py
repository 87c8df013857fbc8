"""Figure 24: the line between nets of learning rate 0.1 and 0.003, VGG16 with BN on CIFAR-10."""

from reproductions.asymvalley.recipes.claims import line_task

task = line_task("fig24", "vgg16_cifar10", "lr")
