"""Figure 8: the line between nets of batch size 32 and 2048, VGG16 with BN on CIFAR-10."""

from reproductions.asymvalley.recipes.claims import line_task

task = line_task("fig08", "vgg16_cifar10", "batch_size", place=" and section 4.2.2")
