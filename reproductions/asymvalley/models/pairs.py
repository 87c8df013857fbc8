"""The paper's pairs of network and data, and what stands for them at each profile. No torch.

A trial's parameters say everything its run depends on, so a record needs no code to be read.
"""

from __future__ import annotations

from typing import Literal, get_args

from harness.declare.experiment import Device
from harness.declare.params import Scalar
from harness.declare.profiles import Profile
from harness.errors import SpecError

Point = dict[str, Scalar]
Pair = Literal[
    "vgg16_cifar10",
    "vgg16nobn_cifar10",
    "resnet20_svhn",
    "vgg11_cifar100",
    "alexnet_food101",
    "vit_food101",
    "resnet20_cifar10",
    "resnet20_cifar100",
]
Recipe = Literal["base", "lr_high", "lr_low", "bs_small", "bs_large", "wd_high", "wd_low"]
BnStart = Literal["ones", "uniform", "gaussian"]

PAIRS: tuple[Pair, ...] = get_args(Pair)
COMMON: tuple[Pair, ...] = (
    "vgg16_cifar10", "resnet20_svhn", "vgg11_cifar100", "alexnet_food101", "vit_food101",
)  # fmt: skip
"""Pairs of Figures 3 and 12 to 15, and of Figures 5 and 16 to 19."""
RECIPES: tuple[Recipe, ...] = ("lr_high", "lr_low", "bs_small", "bs_large", "wd_high", "wd_low")
BN_STARTS: tuple[BnStart, ...] = get_args(BnStart)
NUM_CLASSES = {
    "digits": 10, "mnist": 10, "cifar10_10k_5k": 10, "cifar100_5k_1k": 100,
    "cifar10": 10, "cifar100": 100, "svhn": 10, "food101": 101, "cinic10": 10,
}  # fmt: skip
IMAGE_SIZE = {
    "digits": 8, "mnist": 28, "cifar10_10k_5k": 32, "cifar100_5k_1k": 32,
    "cifar10": 32, "cifar100": 32, "svhn": 32, "food101": 64, "cinic10": 32,
}  # fmt: skip
"""Pixels a side, as stored; a trial's `image_size` may be an integer part of it."""
GREY = ("digits", "mnist")

_NETS: dict[Pair, Point] = {
    "vgg16_cifar10": {"net": "vgg", "depth": 16, "batch_norm": True},
    "vgg16nobn_cifar10": {"net": "vgg", "depth": 16, "batch_norm": False},
    "resnet20_svhn": {"net": "resnet", "depth": 20, "batch_norm": True},
    "vgg11_cifar100": {"net": "vgg", "depth": 11, "batch_norm": False},
    "alexnet_food101": {"net": "alexnet", "depth": 8, "batch_norm": False},
    "vit_food101": {"net": "vit", "depth": 12, "batch_norm": False},
    "resnet20_cifar10": {"net": "resnet", "depth": 20, "batch_norm": True},
    "resnet20_cifar100": {"net": "resnet", "depth": 20, "batch_norm": True},
}
_PAPER_DATA: dict[Pair, str] = {
    "vgg16_cifar10": "cifar10",
    "vgg16nobn_cifar10": "cifar10",
    "resnet20_svhn": "svhn",
    "vgg11_cifar100": "cifar100",
    "alexnet_food101": "food101",
    "vit_food101": "food101",
    "resnet20_cifar10": "cifar10",
    "resnet20_cifar100": "cifar100",
}
_STAND_INS = {
    "cifar10": "cifar10_10k_5k",
    "svhn": "mnist",
    "cifar100": "cifar100_5k_1k",
    "food101": "cifar10_10k_5k",
}
"""What the staged data offer (DEV-01)."""
_TRAIN_IMAGES = {
    "cifar10": 50_000, "cifar100": 50_000, "svhn": 73_257, "food101": 75_750,
}  # fmt: skip
_TEST_IMAGES = {"cifar10": 10_000, "cifar100": 10_000, "svhn": 26_032, "food101": 25_250}
_FULL_WIDTH = {"vgg": 64, "resnet": 16, "alexnet": 64, "vit": 128}
"""Channels of the first stage; of a transformer its width."""

_CPU: dict[Pair, Point] = {
    "vgg16_cifar10": {"width": 8, "num_train": 10_000, "epochs": 10},
    "vgg16nobn_cifar10": {"width": 8, "num_train": 10_000, "epochs": 10},
    "resnet20_svhn": {"width": 8, "num_train": 10_000, "epochs": 8, "image_size": 14},
    "vgg11_cifar100": {"width": 16, "num_train": 5_000, "epochs": 20},
    "alexnet_food101": {"width": 16, "num_train": 10_000, "epochs": 10},
    "vit_food101": {"width": 64, "num_train": 10_000, "epochs": 10, "depth": 2},
    "resnet20_cifar10": {"width": 8, "num_train": 10_000, "epochs": 12, "image_size": 16},
    "resnet20_cifar100": {"width": 8, "num_train": 5_000, "epochs": 24, "image_size": 16},
}
"""Widths, lengths and image sizes that train to a valley in about a minute on a core (DEV-03)."""
_BATCH_SIZES: dict[Profile, tuple[int, int, int]] = {
    "smoke": (50, 25, 100),
    "cpu": (64, 16, 512),
    "gpu": (64, 16, 512),
    "paper": (256, 32, 2048),
}
"""Base, small and large."""


def solution_point(
    profile: Profile, pair: Pair, *, seed: int, recipe: Recipe = "base", bn_start: BnStart = "ones"
) -> Point:
    """Return the parameters of one training: SGD with momentum, cosine decay (appendix A.3)."""
    data = _PAPER_DATA[pair]
    net: Point = {"pair": pair, "recipe": recipe, "bn_start": bn_start, "seed": seed} | _NETS[pair]
    size = _size(profile, pair, data)
    natural: Point = {"image_size": IMAGE_SIZE[str(size["data"])]}
    rest: Point = {"normalisation": "train", "device": _device(profile)}
    return net | natural | size | _recipe(profile, pair, recipe) | rest


def _device(profile: Profile) -> Device:
    return "cuda" if profile in ("gpu", "paper") else "cpu"


def _size(profile: Profile, pair: Pair, data: str) -> Point:
    kind = str(_NETS[pair]["net"])
    match profile:
        case "smoke":
            width = {"vgg": 2, "resnet": 2, "alexnet": 4, "vit": 16}[kind]
            size: Point = {"data": "digits", "width": width, "num_train": 100, "epochs": 1}
            shallow: Point = {"depth": 2} if kind == "vit" else {}
            images = {"num_test": 50, "num_statistics": 50, "augment": False}
            return size | shallow | images
        case "cpu":
            images = {"num_test": 1000, "num_statistics": 1000, "augment": False}
            return {"data": _STAND_INS[data]} | _CPU[pair] | images
        case "gpu":
            images = {"num_test": 1000, "num_statistics": 1000, "augment": False}
            # Half the epochs of `cpu`, so that all trainings take a GPU less than eight minutes.
            larger = {"width": _FULL_WIDTH[kind] // 2, "epochs": int(_CPU[pair]["epochs"]) // 2}
            return {"data": _STAND_INS[data]} | _CPU[pair] | larger | images
        case "paper":
            count = _TRAIN_IMAGES[data]
            images = {"num_test": _TEST_IMAGES[data], "num_statistics": count, "augment": True}
            size = {"data": data, "width": _FULL_WIDTH[kind], "num_train": count, "epochs": 200}
            return size | images
    raise SpecError(f"profile {profile!r}: need smoke, cpu, gpu or paper")


def _recipe(profile: Profile, pair: Pair, recipe: Recipe) -> Point:
    base, small, large = _BATCH_SIZES[profile]
    settings: Point = {
        "optimizer": "adamw" if pair == "vit_food101" else "sgd",
        "lr": 1e-4 if pair == "vit_food101" else 0.03,
        "batch_size": base,
        "weight_decay": 5e-4,
    }
    changed: dict[Recipe, Point] = {
        "base": {},
        "lr_high": {"lr": 0.1},
        "lr_low": {"lr": 0.003},
        "bs_small": {"batch_size": small},
        "bs_large": {"batch_size": large},
        "wd_high": {"weight_decay": 1e-3},
        "wd_low": {"weight_decay": 1e-5},
    }
    return settings | changed[recipe]
