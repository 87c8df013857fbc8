"""Figure 13: valleys along seven common noises, VGG11 without BN on CIFAR-100."""

from reproductions.asymvalley.method.directions import NOISES
from reproductions.asymvalley.models.scopes import TRAINED
from reproductions.asymvalley.valleys.claims import noise_task, raw_noise_is_symmetric

RAW_OF_ALL_KINDS = raw_noise_is_symmetric(
    TRAINED,
    "Without batch normalization raw noise of every kind gives a nearly symmetric valley.",
    kinds=NOISES,
    min_draws=5,
)

task = noise_task("fig13", "vgg11_cifar100", RAW_OF_ALL_KINDS, least=0.05, loss_too=True)
