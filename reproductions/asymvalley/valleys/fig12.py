"""Figure 12: valleys along seven common noises, ResNet20 on SVHN."""

from reproductions.asymvalley.method.directions import ZERO_SYMMETRIC
from reproductions.asymvalley.models.controls import TRAINED
from reproductions.asymvalley.valleys.claims import noise_task, raw_noise_is_symmetric

RAW_ABOUT_ZERO = raw_noise_is_symmetric(
    TRAINED,
    "Raw noise that is symmetric about zero gives a nearly symmetric valley.",
    kinds=ZERO_SYMMETRIC,
    min_draws=3,
)

task = noise_task("fig12", "resnet20_svhn", RAW_ABOUT_ZERO, least=0.05)
