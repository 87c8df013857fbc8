"""Figure 23: the valley under G(0,1) noise after six training recipes, ResNet20 on CIFAR-10."""

from reproductions.asymvalley.recipes.claims import recipe_task

task = recipe_task("fig23", "resnet20_cifar10")
