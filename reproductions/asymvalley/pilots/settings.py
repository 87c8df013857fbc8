"""What the pilots try."""

from __future__ import annotations

from reproductions.asymvalley.models.pairs import Fields, Pair
from reproductions.asymvalley.trained_nets.experiment import STAGED

COLOUR: Fields = STAGED | {"num_train": 18_000}
"""All staged images of CIFAR-10, less those for validation."""

NETS: tuple[tuple[Pair, Fields], ...] = (
    ("vgg16_cifar10", COLOUR | {"width": 12, "epochs": 16}),
    ("resnet20_svhn", {"num_train": 9_000}),
    ("vgg16_cifar10", COLOUR | {"width": 8, "epochs": 12}),
    ("alexnet_food101", COLOUR | {"width": 16, "epochs": 15}),
    ("vgg16_cifar10", COLOUR | {"width": 8, "epochs": 12, "recipe": "lr_low"}),
    ("vgg16_cifar10", COLOUR | {"width": 8, "epochs": 12, "recipe": "bs_large"}),
    ("vgg11_cifar100", {"num_train": 4_500, "width": 16, "epochs": 30, "augment": True}),
    ("vit_food101", COLOUR | {"width": 64, "epochs": 10}),
    ("vgg16nobn_cifar10", COLOUR | {"width": 8, "epochs": 12}),
    ("resnet20_cifar10", COLOUR | {"width": 16, "epochs": 12}),
    ("vgg16_cifar10", COLOUR | {"width": 16, "epochs": 20}),
    ("vgg16_cifar10", COLOUR | {"width": 8, "epochs": 24}),
)
"""Nets in the order in which they tell most."""

GAMMAS = "0.0001 0.001 0.01 0.1"
"""The three of section 6.2, and a tenth of the smallest."""
