"""Figure 13: valleys along seven common noises, VGG11 without BN on CIFAR-100."""

from __future__ import annotations

from functools import partial

from harness.declare import Task, at_most
from reproductions.asymvalley.models.names import NOISE_LABELS
from reproductions.asymvalley.models.scopes import TRAINED
from reproductions.asymvalley.valleys import quantities as q
from reproductions.asymvalley.valleys import table
from reproductions.asymvalley.valleys.claims import NOISE_ALT, NOISE_CAPTION, without_batch_norm
from reproductions.asymvalley.valleys.experiment import common_noises

PAIR = "vgg11_cifar100"
SHIFTED_SYMMETRIC = (
    "raw_shifted_symmetric",
    TRAINED,
    at_most(partial(q.raw_shares, kinds=q.SHIFTED), 0.25, "share").naming(
        *(NOISE_LABELS[kind] for kind in q.SHIFTED)
    ),
    "Without batch normalization raw noise of the four kinds with a positive mean gives a nearly"
    " symmetric valley, too: at s = 1 the asymmetry of each is at most a quarter of that of its"
    " sign-consistent version in size.",
)

task = Task(
    "asymvalley/fig13",
    reads=(common_noises,),
    table=table.noises(PAIR),
    claims=without_batch_norm("Figure 13", SHIFTED_SYMMETRIC, least=0.05),
    figure="figures:noise_panels",
    caption=NOISE_CAPTION,
    alt=NOISE_ALT,
)
