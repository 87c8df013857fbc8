"""Figure 9: the valley under G(0,1) noise after six training recipes, VGG16 with BN on CIFAR-10."""

from functools import partial

from harness.declare import more_than
from reproductions.asymvalley.models.controls import TRAINED, at_centre
from reproductions.asymvalley.models.curves import LEAN, asymmetries
from reproductions.asymvalley.models.pairs import RECIPES, Pair
from reproductions.asymvalley.recipes.claims import recipe_task

PAIR: Pair = "vgg16_cifar10"
SETTINGS = {"lr": "learning rate", "bs": "batch", "wd": "weight decay"}
NAMES = [f"{size} {SETTINGS[setting]}" for setting, size in (name.split("_") for name in RECIPES)]
SIGNED = [{"recipe": recipe, "sign_consistent": True} for recipe in RECIPES]
SIGN_NOISE = (
    "sign_noise_is_asymmetric",
    at_centre(TRAINED, PAIR, by=("recipe",), varied=True),
    more_than(partial(asymmetries, of=SIGNED), 0, "error").naming(*NAMES).measuring(LEAN),
    "After each of six recipes sign-consistent noise makes the valley of VGG16 asymmetric.",
)

task = recipe_task("fig09", PAIR, SIGN_NOISE, place=" and section 4.2.2")
