"""What a careless change may do to valleys, trainings and federated rounds."""

from __future__ import annotations

from dataclasses import replace
from statistics import fmean
from typing import Any

from tests.mutate.fault import Fault, edited
from tests.patches import around

METHOD = "reproductions.asymvalley.method"
FEDERATED, TRIAL = f"{METHOD}.federated", "reproductions.asymvalley.federated.trial"


def mean_of_batch_means(point_of: Any, model: Any, data: Any) -> Any:
    """Return a point whose cross-entropy weighs an uneven last batch as all others."""
    pairs = zip(
        data.test_images.split(data.batch_size), data.test_labels.split(data.batch_size),
        strict=True,
    )  # fmt: skip
    parts = [
        point_of(model, replace(data, test_images=images, test_labels=labels))
        for images, labels in pairs
    ]
    return replace(point_of(model, data), ce=fmean(part.ce for part in parts))


VALLEYS = (
    Fault(
        id="norm_of_all_weights",
        where=f"{METHOD}.scaling:scale_direction",
        instead=edited("weights_P if mask_P is None else weights_P[mask_P]", "weights_P"),
        breaks="Noise in a group has the norm of all weights.",
        tests=("method/test_scaling.py",),
    ),
    Fault(
        id="norm_of_the_layer",
        where=f"{METHOD}.scaling:_filter_scaled",
        instead=edited("length = rows.norm(dim=1, keepdim=True)", "length = rows.norm()"),
        breaks="Filters share the norm of their layer.",
        tests=("method/test_scaling.py",),
    ),
    Fault(
        id="zero_is_positive",
        where=f"{METHOD}.noise:sign",
        instead=edited("vector_P > 0", "vector_P >= 0"),
        breaks="A weight of zero has a positive sign.",
        tests=("method/test_noise.py",),
    ),
    Fault(
        id="noise_keeps_its_sign",
        where=f"{METHOD}.noise:sign_consistent",
        instead=edited("noise_P.abs() *", "noise_P *"),
        breaks="Consistent noise has the product of both signs.",
        tests=("method/test_noise.py",),
    ),
    Fault(
        id="share_of_the_others",
        where=f"{METHOD}.noise:partly_consistent",
        instead=edited("uniform_P < ratio", "uniform_P >= ratio"),
        breaks="The share that should keep its own signs takes those of the weights.",
        tests=("method/test_noise.py",),
    ),
    Fault(
        id="one_draw_of_noise",
        where=f"{METHOD}.noise:draw_noise",
        instead=edited('"draw": draw', '"draw": 0'),
        breaks="All draws of a noise are the same one.",
        tests=("method/test_noise.py",),
    ),
    Fault(
        id="centred_by_the_mean_of_all",
        where=f"{METHOD}.noise:_centred",
        instead=edited("view -= view.mean()", "view -= weights_P.mean()"),
        breaks="A tensor is centred by the mean of all weights.",
        tests=("method/test_noise.py",),
    ),
    Fault(
        id="mean_of_batch_means",
        where=f"{METHOD}.curve:point_of",
        instead=around(mean_of_batch_means),
        breaks="A last batch of few images counts as much as the others.",
        tests=(
            "method/test_curve.py::test_cross_entropy_is_a_mean_over_images_and_not_over_batches",
        ),
    ),
    Fault(
        id="what_is_no_number_may_be_right",
        where=f"{METHOD}.curve:point_of",
        instead=edited(" & logits_NC.isfinite().all(dim=1)", ""),
        breaks="Where logits are no numbers the first class is taken.",
        tests=("method/test_curve.py",),
    ),
    Fault(
        id="statistics_of_the_start",
        where=f"{METHOD}.curve:Walk._estimate_statistics",
        instead=around(lambda estimate, walk: None),
        breaks="Statistics along a walk stay those of the trained net.",
        tests=(
            "method/test_curve.py::test_statistics_are_those_of_their_images_and_of_no_test_image",
        ),
    ),
    Fault(
        id="scale_is_forgotten",
        where=f"{METHOD}.curve:Walk.step",
        instead=edited("scaled_P * scale", "scaled_P"),
        breaks="A walk is one step wide, whatever s.",
        tests=("method/test_curve.py",),
    ),
    Fault(
        id="bias_among_weights",
        where=f"{METHOD}.layout:_belongs",
        instead=around(
            lambda belongs, slot, group, **named: (
                slot.role == "bn" if group == "bn_weight" else belongs(slot, group, **named)
            )
        ),
        breaks="Biases of batch normalisation count as its weights.",
        tests=("method/test_layout.py",),
    ),
    Fault(
        id="zeros_agree",
        where=f"{METHOD}.layout:same_sign_ratio",
        instead=edited("second_P.sign() > 0", "second_P.sign() >= 0"),
        breaks="A coordinate of zero has the sign of anything.",
        tests=("method/test_layout.py",),
    ),
    Fault(
        id="line_the_other_way_round",
        where=f"{METHOD}.interpolation:between",
        instead=around(lambda between, first, second, place: between(second, first, place)),
        breaks="The line runs from the second net to the first.",
        tests=("method/test_interpolation.py",),
    ),
    Fault(
        id="positive_where_the_negative_side_is_flat",
        where=f"{METHOD}.asymmetry:Sides.asymmetry",
        instead=edited("self.minus - self.plus", "self.plus - self.minus"),
        breaks="The asymmetry has the wrong sign.",
        tests=("method/test_curve.py",),
    ),
    Fault(
        id="middle_is_on_a_side",
        where=f"{METHOD}.asymmetry:sides",
        instead=edited("if place > 0", "if place >= 0"),
        breaks="The point at zero counts to the positive side.",
        tests=("method/test_curve.py",),
    ),
)

STUDIES = (
    Fault(
        id="statistics_from_test_images",
        where="reproductions.asymvalley.models.images:Images.valley_data",
        instead=edited("self.train_x[: self.num_statistics]", "self.test_x"),
        breaks="Statistics of batch normalisation are estimated from test images.",
        tests=("models/test_images.py",),
    ),
    Fault(
        id="walked_images_by_their_own_mean",
        where="reproductions.asymvalley.models.images:images_of",
        instead=edited(
            "(test_x - mean.view(shape)) / std.view(shape)",
            "(test_x - test_x.mean(dim=(0, 2, 3)).view(shape)) / std.view(shape)",
        ),
        breaks="Test images are centred by themselves.",
        tests=("models/test_images.py",),
    ),
    Fault(
        id="signs_on_another_draw",
        where="reproductions.asymvalley.models.curve_rows:both_rows",
        instead=edited(
            "    for consistent in (False, True):\n",
            "    for consistent in (False, True):\n"
            "        noise_P = noise_P.flip(0) if consistent else noise_P\n",
        ),
        breaks="Raw and sign-consistent rows are of different draws.",
        tests=("models/test_curve_rows.py",),
    ),
    Fault(
        id="group_noise_of_the_whole_norm",
        where="reproductions.asymvalley.valleys.trial:group_rows",
        instead=edited(', norm="ns", mask=mask_P', ', norm="ns"'),
        breaks="Noise in a group has the norm of all weights.",
        tests=("valleys/test_trial.py",),
    ),
    Fault(
        id="batch_norm_noise_of_the_whole_norm",
        where="reproductions.asymvalley.starts.trial:_curves",
        instead=edited("norm=norm, mask=mask_P", "norm=norm"),
        breaks="Noise on batch normalisation has the norm of all weights.",
        tests=("starts/test_trial.py",),
    ),
    Fault(
        id="batches_weigh_alike",
        where=f"{METHOD}.batch_norm:recalibrate",
        instead=edited("len(images) / num_seen", "0.5"),
        breaks="Statistics are a running mean over batches, whatever their images.",
        tests=("method/test_batch_norm.py::test_uneven_batches_weigh_as_many_images_as_they_have",),
    ),
)

TRAINING = (
    Fault(
        id="cosine_is_a_step_ahead",
        where="reproductions.asymvalley.models.training:cosine_lr",
        instead=edited("math.pi * step", "math.pi * (step + 1)"),
        breaks="The learning rate falls a step early.",
        tests=("models/test_training.py",),
    ),
    Fault(
        id="last_batch_is_dropped",
        where="reproductions.asymvalley.models.training:epoch_batches",
        instead=edited(
            "order.split(settings.batch_size)",
            "order[: len(order) // settings.batch_size * settings.batch_size].split("
            "settings.batch_size)",
        ),
        breaks="Images that fill no batch are not trained on.",
        tests=("models/test_training.py::test_every_image_is_seen_once_an_epoch",),
    ),
    Fault(
        id="no_momentum",
        where="reproductions.asymvalley.models.training:MOMENTUM",
        instead=lambda momentum: 0.0,
        breaks="SGD has no momentum.",
        tests=("models/test_training.py::test_steps_are_those_of_momentum_with_coupled_decay",),
    ),
)

ALGORITHMS = (
    Fault(
        id="sum_of_clients",
        where=f"{FEDERATED}.algorithms:uniform_average",
        instead=edited("values.double().sum(0) / len(states)", "values.double().sum(0)"),
        breaks="The server adds states up.",
        tests=("method/federated/test_algorithms.py",),
    ),
    Fault(
        id="distance_without_its_half",
        where=f"{FEDERATED}.algorithms:FedProx.weight_term",
        instead=edited("0.5 * self.mu", "self.mu"),
        breaks="FedProx penalises twice as much.",
        tests=("method/federated/test_algorithms.py",),
    ),
    Fault(
        id="signs_are_punished",
        where=f"{FEDERATED}.algorithms:FedSign.weight_term",
        instead=edited("-self.gamma", "self.gamma"),
        breaks="FedSign drives parameters away from their signs.",
        tests=("method/federated/test_algorithms.py",),
    ),
    Fault(
        id="mean_for_the_sum_of_signs",
        where=f"{FEDERATED}.algorithms:FedSign.weight_term",
        instead=edited("kept_N.sum()", "kept_N.mean()"),
        breaks="FedSign's sum is a mean.",
        tests=("method/federated/test_algorithms.py",),
    ),
    Fault(
        id="zeros_are_rewarded",
        where=f"{FEDERATED}.algorithms:FedSign.weight_term",
        instead=edited(" * sign_N.abs()", ""),
        breaks="A parameter that was zero counts in FedSign's penalty.",
        tests=("method/federated/test_algorithms.py",),
    ),
    Fault(
        id="contrast_the_other_way_round",
        where=f"{FEDERATED}.algorithms:Moon.batch_term",
        instead=edited("logits_GB[1] - logits_GB[0]", "logits_GB[0] - logits_GB[1]"),
        breaks="MOON draws features to the previous model, away from the global one.",
        tests=("method/federated/test_algorithms.py",),
    ),
    Fault(
        id="references_in_train_mode",
        where=f"{FEDERATED}.algorithms:_features",
        instead=edited("net.module.eval()", "net.module.train()"),
        breaks="MOON's references have the statistics of their batch, and change the net's.",
        tests=("method/federated/test_client.py",),
    ),
    Fault(
        id="drift_of_every_client",
        where=f"{FEDERATED}.algorithms:FedDyn.aggregate",
        instead=edited(" * (len(states) / num_clients)", ""),
        breaks="FedDyn's server takes the round's clients for all.",
        tests=("method/federated/test_algorithms.py",),
    ),
    Fault(
        id="client_s_gradient_of_the_wrong_sign",
        where=f"{FEDERATED}.algorithms:FedDyn.end",
        instead=edited("-self.a", "self.a"),
        breaks="FedDyn's clients keep the wrong sign of their change.",
        tests=("method/federated/test_client.py",),
    ),
)

ROUNDS = (
    Fault(
        id="net_of_the_client_before",
        where=f"{FEDERATED}.client:train_client",
        instead=edited("    net.load(state)\n", ""),
        breaks="A client goes on from what the net held before.",
        tests=("method/federated/test_start.py",),
    ),
    Fault(
        id="decay_before_the_clip",
        where=f"{FEDERATED}.client:_sgd_step",
        instead=edited(
            "    norm = torch.linalg",
            "    gradient_N.add_(net.theta_N, alpha=settings.weight_decay)\n"
            "    norm = torch.linalg",
        ),
        breaks="Weights decay twice, once within the clipped norm.",
        tests=("method/federated/test_client.py",),
    ),
    Fault(
        id="velocity_is_a_mean",
        where=f"{FEDERATED}.client:_sgd_step",
        instead=edited("add_(gradient_N)", "add_(gradient_N, alpha=1 - settings.momentum)"),
        breaks="Momentum is a mean of gradients, and not torch's sum.",
        tests=("method/federated/test_client.py",),
    ),
    Fault(
        id="previous_model_is_the_first_one",
        where=f"{FEDERATED}.simulator:simulate",
        instead=edited(
            "memories |= {k: result.memory for k, result in results.items()}",
            "memories = {k: result.memory for k, result in results.items()} | memories",
        ),
        breaks="What clients remember is of their first turn for ever.",
        tests=(
            "method/federated/test_simulator.py::test_memories_are_those_of_each_client_s_last_turn",
        ),
    ),
    Fault(
        id="same_order_for_all",
        where=f"{FEDERATED}.simulator:sampled_clients",
        instead=edited("client: seeds[client]", "client: seeds[0]"),
        breaks="All clients of a round have one seed.",
        tests=(
            "method/federated/test_simulator.py::test_clients_are_sampled_without_replacement_alike_for_all_algorithms",
        ),
    ),
    Fault(
        id="accuracy_in_train_mode",
        where=f"{FEDERATED}.simulator:accuracy_of",
        instead=edited("net.module.eval()", "net.module.train()"),
        breaks="The global model is evaluated with the statistics of test batches.",
        tests=(
            "method/federated/test_simulator.py::test_global_model_is_evaluated_with_averaged_statistics",
        ),
    ),
    Fault(
        id="shares_of_a_client",
        where=f"{FEDERATED}.split:_draw",
        instead=edited(
            "shares_KC.sum(axis=0, keepdims=True)", "shares_KC.sum(axis=1, keepdims=True)"
        ),
        breaks="Shares sum to one over classes, and not over clients.",
        tests=("method/federated/test_split.py",),
    ),
    Fault(
        id="test_images_by_their_own_mean",
        where=f"{TRIAL}:federation_of",
        instead=edited(
            "(images - mean) / std", "(images - images.mean((0, 1, 2))) / images.std((0, 1, 2))"
        ),
        breaks="Held-out images, and each client's, are normalised by themselves.",
        tests=("federated/test_trial.py::test_test_images_are_normalised_as_the_clients_are",),
    ),
    Fault(
        id="coefficients_by_test_images",
        where=f"{TRIAL}:search_rows",
        instead=edited("held_out = federation.validation", "held_out = federation.test"),
        breaks="Coefficients are chosen on the test images.",
        tests=("federated/test_trial.py::test_a_search_does_not_see_the_test_images",),
    ),
    Fault(
        id="clients_hold_the_validation_images",
        where=f"{TRIAL}:federation_of",
        instead=edited("order[num_train : num_train + num_held]", "order[:num_held]"),
        breaks="Coefficients are chosen on images that clients train on.",
        tests=(
            "federated/test_trial.py::test_held_out_images_are_no_clients_and_splits_do_not_depend_on_the_algorithm",
        ),
    ),
    Fault(
        id="final_row_of_all_rounds",
        where=f"{TRIAL}:rows_of",
        instead=edited("run.logs[rounds // 2 :]", "run.logs"),
        breaks="The final row is over all rounds, and not over the second half.",
        tests=("federated/test_trial.py::test_final_row_is_over_the_second_half",),
    ),
    Fault(
        id="least_accurate_is_chosen",
        where=f"{TRIAL}:search_rows",
        instead=edited("max(", "min("),
        breaks="The search takes the worst coefficient.",
        tests=(
            "federated/test_trial.py::test_search_chooses_the_most_accurate_and_the_run_takes_it",
        ),
    ),
)

FAULTS = (*VALLEYS, *STUDIES, *TRAINING, *ALGORITHMS, *ROUNDS)
