"""Golden trials of the asymmetric valley and FedSign.

Nets are those without a bias below batch normalisation: the gradient of such a bias is zero but
for rounding, and so its sign is another one on every machine.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from tests.golden_trials import Short, golden
from tests.patches import Mutation, Patch, around

IMAGES = {"num_train": 75}
"""Two steps of batches of 50, three of 25, one of 100."""
RESNET = Short(of={"pair": "resnet20_svhn"}, to=IMAGES)
PLAIN_VGG = Short(of={"pair": "vgg11_cifar100"}, to=IMAGES)
ROUNDS = {
    "net": "resnet20", "width": 2, "num_clients": 2, "participation": 1.0, "num_train": 60,
    "batch_size": 60, "min_steps": 0,
}  # fmt: skip
"""Both clients take one step per round."""
NOISE, CURVE = "reproductions.asymvalley.method.noise", "reproductions.asymvalley.method.curve"
CURVE_ROWS = "reproductions.asymvalley.models.curve_rows"
FEDERATED = "reproductions.asymvalley.method.federated"

NO_SIGNS = Mutation(
    where=f"{CURVE_ROWS}:sign_consistent",
    instead=around(lambda consistent, noise, weights: noise),
    breaks="Sign-consistent noise does not take the signs of the weights.",
)

OTHER_SHARE = Mutation(
    where="reproductions.asymvalley.valleys.trial:partly_consistent",
    instead=around(
        lambda partly, noise, weights, drawn, ratio: partly(noise, weights, drawn, 1.0 - ratio)
    ),
    breaks="The share that keeps its own sign is the one that should take the weights'.",
)
LEVEL_RATE = Mutation(
    where="reproductions.asymvalley.models.training:cosine_lr",
    instead=around(lambda rate, step, num_steps, peak: peak),
    breaks="The learning rate does not fall.",
)
LONE_CLIENT = Mutation(
    where=f"{FEDERATED}.algorithms:uniform_average",
    instead=around(lambda average, states: average(states[:1])),
    breaks="The server keeps one client's state instead of the average of all.",
)

SHORT_FIT = Patch(
    where="sklearn.linear_model:LogisticRegression",
    instead=lambda fit: partial(fit, tol=0.3),
)
"""Three iterations. After the 172 of a whole fit the weights of two machines differ by more than
half: NumPy's OpenBLAS has other kernels for each."""

GOLDEN = (
    golden(
        "asymvalley/class_pattern",
        Mutation(
            where="reproductions.asymvalley.toys.softmax:sign",
            instead=around(lambda sign, weights: sign(weights).abs()),
            breaks="Noise adds to every pixel, whatever the sign of its weight.",
        ),
        patches=(SHORT_FIT,),
    ),
    golden(
        "asymvalley/relu_unit",
        Mutation(
            where="reproductions.asymvalley.toys.relu_unit:sign",
            instead=around(lambda sign, weights: sign(weights).roll(1, 0)),
            breaks="A weight is moved by the signs of another draw.",
        ),
    ),
    golden(
        "asymvalley/softmax_noise",
        replace(NO_SIGNS, where="reproductions.asymvalley.toys.trial:sign_consistent"),
        patches=(SHORT_FIT,),
    ),
    golden(
        "asymvalley/scaling",
        Mutation(
            where="reproductions.asymvalley.method.scaling:_filter_scaled",
            instead=around(lambda scaled, *given: scaled(*given[:3], "copy")),
            breaks="Biases under filter normalisation become the weights themselves.",
        ),
        Short(of={"noise": "gaussian"}),
        Short(of={"noise": "ones"}),
    ),
    golden(
        "asymvalley/solution",
        LEVEL_RATE,
        RESNET,
        replace(RESNET, of={**RESNET.of, "bn_start": "gaussian"}),
        PLAIN_VGG,
    ),
    golden(
        "asymvalley/activations",
        replace(NO_SIGNS, where="reproductions.asymvalley.activations.trial:sign_consistent"),
        RESNET,
    ),
    golden(
        "asymvalley/batch_norm_starts",
        Mutation(
            where="reproductions.asymvalley.method.layout:_belongs",
            instead=around(
                lambda belongs, slot, group: belongs(slot, group.removesuffix("_weight"))
            ),
            breaks="Noise on the weights of batch normalisation moves its biases too.",
        ),
        replace(RESNET, of={**RESNET.of, "bn_start": "gaussian"}),
    ),
    golden(
        "asymvalley/common_noises",
        Mutation(
            where=f"{CURVE}:scale_direction",
            instead=around(lambda scaled, direction, *given, **named: direction),
            breaks="Noise is not scaled to the norm of the weights.",
        ),
        replace(RESNET, of={**RESNET.of, "noise": "gaussian"}),
        replace(PLAIN_VGG, of={**PLAIN_VGG.of, "noise": "ones"}),
    ),
    golden(
        "asymvalley/frozen_statistics",
        Mutation(
            where=f"{CURVE}:recalibrate",
            instead=around(lambda recalibrate, model, batches: None),
            breaks="Statistics of batch normalisation are not estimated again along a walk.",
        ),
        RESNET,
    ),
    golden(
        "asymvalley/group_noises",
        Mutation(
            where="reproductions.asymvalley.method.layout:_belongs",
            instead=around(lambda belongs, slot, group: True),
            breaks="Noise in a group moves all parameters.",
        ),
        Short(of={"group": "conv"}),
        Short(of={"group": "bn"}),
    ),
    golden(
        "asymvalley/half_lines",
        Mutation(
            where="reproductions.asymvalley.halves.trial:between",
            instead=around(lambda between, first, second, place: first),
            breaks="The line never leaves the first solution.",
        ),
        Short(of={"regime": "pretrained"}, to=IMAGES),
    ),
    golden(
        "asymvalley/recipe_lines",
        Mutation(
            where="reproductions.asymvalley.method.interpolation:between",
            instead=around(lambda between, first, second, place: between(second, first, place)),
            breaks="The line runs from the second solution to the first.",
        ),
        Short(of={"pair": "resnet20_cifar10"}, to=IMAGES),
    ),
    golden("asymvalley/recipes", NO_SIGNS, Short(of={"pair": "resnet20_cifar10"}, to=IMAGES)),
    golden("asymvalley/sign_ratios", OTHER_SHARE, RESNET),
    golden(
        "asymvalley/special_directions",
        Mutation(
            where=f"{NOISE}:_centred",
            instead=around(lambda centred, weights, layout: weights),
            breaks="The mean of a tensor is not taken away before its signs are.",
        ),
        replace(RESNET, of={**RESNET.of, "direction": "sign_centred"}),
        replace(PLAIN_VGG, of={**PLAIN_VGG.of, "direction": "theta_0"}),
    ),
    golden(
        "asymvalley/published_curves",
        replace(OTHER_SHARE, where="reproductions.asymvalley.published.trial:partly_consistent"),
        Short(of={"along": "gaussian"}),
        Short(of={"along": "sign_centred"}),
    ),
    golden("asymvalley/pilot_nets", LEVEL_RATE, Short(to=IMAGES)),
    golden(
        "asymvalley/pilot_federated",
        LONE_CLIENT,
        Short(of={"algorithm": "fedavg"}, to={**ROUNDS, "rounds": 1, "min_steps": 3}),
    ),
    golden(
        "asymvalley/federated",
        Mutation(
            where=f"{FEDERATED}.algorithms:FedSign.weight_term",
            instead=around(lambda term, *given: -term(*given)),
            breaks="The penalty's sign is flipped: parameters are rewarded for leaving theirs.",
        ),
        *(
            Short(of={"algorithm": name}, to={**ROUNDS, "rounds": 3, "eval_every": 3})
            for name in ("fedsign", "feddyn", "moon")
        ),
    ),
    golden(
        "asymvalley/federated_search",
        LONE_CLIENT,
        *(
            Short(of={"algorithm": name}, to={**ROUNDS, "rounds": 1, "min_steps": 3})
            for name in ("fedavg", "fedprox", "fedpan")
        ),
    ),
    golden(
        "asymvalley/federated_identities",
        Mutation(
            where=f"{FEDERATED}.algorithms:uniform_average",
            instead=around(lambda average, states: average([states[0], *states])),
            breaks="The first client counts twice in the average.",
        ),
        Short(to={**ROUNDS, "rounds": 2}),
        # Differences over a step of 1e-6 hold next to nothing but rounding.
        patches=(
            Patch(
                where="reproductions.asymvalley.federated.identities:_STEP",
                instead=lambda step: 1e-2,
            ),
        ),
    ),
)
