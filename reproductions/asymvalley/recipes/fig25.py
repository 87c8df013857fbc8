"""Figure 25: the line between nets of weight decay 1e-3 and 1e-5, VGG16 with BN on CIFAR-10."""

from reproductions.asymvalley.recipes.claims import line_task

task = line_task("fig25", "vgg16_cifar10", "weight_decay")
