"""Figure 7: how BN weights start and end, and the valley then, VGG16 with BN on CIFAR-10."""

from __future__ import annotations

from functools import partial

from harness.declare import Task, claims, within
from reproductions.asymvalley.models.curves import stated
from reproductions.asymvalley.models.scopes import STATED
from reproductions.asymvalley.starts import quantities as q
from reproductions.asymvalley.starts import table
from reproductions.asymvalley.starts.claims import ALT, CAPTION, start_claims
from reproductions.asymvalley.starts.experiment import batch_norm_starts

task = Task(
    "asymvalley/fig07",
    reads=(batch_norm_starts,),
    table=table.starts("vgg16_cifar10"),
    claims=start_claims("Figure 7 and section 4.2.1")
    + claims(
        "Section 4.2.1",
        (
            "ones_centre_as_stated",
            STATED,
            within(
                partial(q.middle_weight, start="ones"),
                0.1,
                0.3,
                "weight",
                paper_value=partial(stated, y_name="bn_weight_centre_approximately"),
            ),
            "Started at 1, BN weights end centred near 0.2: their median over all layers is between"
            " 0.1 and 0.3. The paper shows one layer, and does not say which.",
        ),
    ),
    figure="figures:start_panels",
    caption=CAPTION,
    alt=ALT,
)
