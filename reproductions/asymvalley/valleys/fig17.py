"""Figure 17: valleys along six directions made of the weights, VGG11 without BN on CIFAR-100."""

from reproductions.asymvalley.valleys.claims import direction_task

task = direction_task("fig17", "vgg11_cifar100")
