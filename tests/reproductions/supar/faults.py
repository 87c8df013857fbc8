"""What a careless change may do to SmuPar: its rules, masks, dynamic sparsity and trainings."""

from __future__ import annotations

from typing import Any

from tests.mutate.fault import Fault, edited
from tests.patches import around

METHOD, MODELS = "reproductions.supar.method", "reproductions.supar.models"


def of_one_stream(draw: Any, shape: Any, density: Any, *, generator: Any, pattern: Any) -> Any:
    """Draw a mask from the start of its stream."""
    return draw(shape, density, generator=generator.manual_seed(0), pattern=pattern)


MASKS = (
    Fault(
        id="masks_round_down",
        where=f"{METHOD}.masks:draw_mask",
        instead=edited("round(density * size)", "int(density * size)"),
        breaks="A mask keeps a weight less than density times size, where that is no whole number.",
        tests=("method/test_masks.py::test_exact_masks_keep_the_exact_count",),
    ),
    Fault(
        id="masks_of_one_stream",
        where=f"{METHOD}.masks:draw_mask",
        instead=around(of_one_stream),
        breaks="Layers of one shape have one mask, whatever the seed.",
        tests=(
            "method/test_masks.py::test_masks_differ_by_layer_and_seed_and_not_by_global_state",
        ),
    ),
    Fault(
        id="density_is_sparsity",
        where=f"{METHOD}.masks:draw_mask",
        instead=edited("generator=generator) < density", "generator=generator) >= density"),
        breaks="A Bernoulli mask keeps what it should prune.",
        tests=("method/test_masks.py::test_bernoulli_masks_keep_the_count_on_average",),
    ),
    Fault(
        id="mask_is_not_attached",
        where=f"{METHOD}.masks:attach_mask",
        instead=around(lambda attach, *given, **named: None),
        breaks="A mask is drawn, and the layer stays dense.",
        tests=("method/test_masks.py",),
    ),
)

RULES = (
    Fault(
        id="rate_by_the_root",
        where=f"{METHOD}.parameterization:Parameterization.rule",
        instead=edited("self.base.lr / lr_width", "self.base.lr / math.sqrt(lr_width)"),
        breaks="Hidden learning rates fall as the root of the effective width.",
        tests=("method/test_parameterization.py::test_effective_hidden_values",),
    ),
    Fault(
        id="start_by_the_width",
        where=f"{METHOD}.parameterization:Parameterization.rule",
        instead=edited(
            "self.base.init_std / math.sqrt(init_width)", "self.base.init_std / init_width"
        ),
        breaks="Hidden weights start as 1 over the effective width, and not over its root.",
        tests=("method/test_parameterization.py::test_effective_hidden_values",),
    ),
    Fault(
        id="half_way_ablations_are_swapped",
        where=f"{METHOD}.parameterization:Parameterization.rule",
        instead=edited('"supar", "mup_init_only"', '"supar", "mup_lr_only"'),
        breaks="The ablation of the start corrects nothing, that of the rate both.",
        tests=("method/test_parameterization.py",),
    ),
    Fault(
        id="attention_by_the_root",
        where=f"{METHOD}.parameterization:Parameterization.attention_scale",
        instead=edited('if self.scheme == "sp" else 1.0 / head_size', ""),
        breaks="Queries times keys are divided by the root of the head size in every scheme.",
        tests=("method/test_parameterization.py::test_forward_factors_of_all_but_sp",),
    ),
    Fault(
        id="logits_of_any_width",
        where=f"{METHOD}.parameterization:Parameterization.logit_multiplier",
        instead=edited(" / self.width_multiplier", ""),
        breaks="Logits are not divided by the width.",
        tests=("method/test_parameterization.py::test_forward_factors_of_all_but_sp",),
    ),
    Fault(
        id="decay_grows_with_the_rate",
        where=f"{METHOD}.parameterization:param_groups",
        instead=edited("parameterization.base.lr / lr", "lr / parameterization.base.lr"),
        breaks="Independent decay is coupled twice.",
        tests=(
            "method/test_parameterization.py::test_independent_decay_shrinks_all_matrices_alike",
        ),
    ),
    Fault(
        id="norms_decay",
        where=f"{METHOD}.parameterization:param_groups",
        instead=edited('0.0 if role == "vector" else weight_decay', "weight_decay"),
        breaks="Norms and biases are decayed.",
        tests=("method/test_parameterization.py",),
    ),
    Fault(
        id="masked_weights_are_drawn",
        where=f"{METHOD}.parameterization:Parameterization.initialize",
        instead=edited("parameter.mul_(mask)", "pass"),
        breaks="A start fills masked weights.",
        tests=("method/test_parameterization.py",),
    ),
    Fault(
        id="gradients_of_the_mean_loss",
        where=f"{METHOD}.activations:_measure",
        instead=edited("num_tokens * _rms(", "_rms("),
        breaks="Gradients at inputs fall with the size of the batch.",
        tests=("method/test_activations.py::test_sizes_equal_those_worked_out_by_hand",),
    ),
    Fault(
        id="mean_square_for_its_root",
        where=f"{METHOD}.activations:_rms",
        instead=edited(".mean().sqrt()", ".mean()"),
        breaks="Sizes are mean squares, whose slopes are twice those of sizes.",
        tests=("method/test_activations.py::test_sizes_equal_those_worked_out_by_hand",),
    ),
)

DYNAMIC = (
    Fault(
        id="rigl_grows_by_weight",
        where=f"{METHOD}.dynamic:regrow",
        instead=edited("_largest(gradient.abs()", "_largest(weight.abs()"),
        breaks="RigL grows what it has just dropped.",
        tests=(
            "method/test_dynamic.py::test_growth_follows_the_dense_gradient_and_drop_the_magnitude",
        ),
    ),
    Fault(
        id="sign_of_the_gradient_counts",
        where=f"{METHOD}.dynamic:regrow",
        instead=edited("gradient.abs()", "gradient.clamp(min=0)"),
        breaks="Weights of large negative gradients are not grown.",
        tests=("method/test_dynamic.py::test_regrow_equals_plain_loops",),
    ),
    Fault(
        id="largest_are_pruned",
        where=f"{METHOD}.dynamic:prune",
        instead=edited("weight.abs()", "(1.0 / (1.0 + weight.abs()))"),
        breaks="Pruning keeps the smallest weights.",
        tests=("method/test_dynamic.py::test_gmp_prunes_the_smallest_for_good",),
    ),
    Fault(
        id="momentum_of_dropped_weights_stays",
        where=f"{METHOD}.dynamic:_replace_mask",
        instead=edited("and name not in keep", 'and name == "max_exp_avg_sq"'),
        breaks="A weight that was dropped keeps its moments.",
        tests=("method/test_dynamic.py::test_adam_state_of_dropped_and_grown_weights",),
    ),
    Fault(
        id="drop_fraction_of_a_whole_cosine",
        where=f"{METHOD}.dynamic:cosine_drop_fraction",
        instead=edited("math.pi * step", "2 * math.pi * step"),
        breaks="The drop fraction falls to 0 half way, and rises again.",
        tests=("method/test_dynamic.py::test_drop_fraction_falls_along_half_a_cosine",),
    ),
    Fault(
        id="quadratic_density",
        where=f"{METHOD}.dynamic:cubic_density",
        instead=edited("left**3", "left**2"),
        breaks="Gradual pruning follows a square.",
        tests=("method/test_dynamic.py::test_density_follows_the_cubic_sparsity_schedule",),
    ),
    Fault(
        id="update_at_the_first_step",
        where=f"{METHOD}.dynamic:UpdateSchedule.due",
        instead=edited("0 < step", "0 <= step"),
        breaks="Masks change before anything was trained.",
        tests=("method/test_dynamic.py::test_schedule_is_due_every_interval_and_at_its_end",),
    ),
    Fault(
        id="optimizer_steps_at_an_update",
        where=f"{METHOD}.dynamic:Rigl.update",
        instead=edited("return False", "return True"),
        breaks="The gradient that RigL chose by moves weights too.",
        tests=("method/test_dynamic.py::test_optimizer_takes_no_step_at_an_update",),
    ),
    Fault(
        id="pruned_gradients_stay",
        where=f"{METHOD}.dynamic:Gmp.update",
        instead=edited("layer.weight.grad.masked_fill_(~new, 0.0)", "pass"),
        breaks="A weight that was just pruned is moved by its last gradient.",
        tests=(
            "method/test_dynamic.py::test_gmp_keeps_the_exact_count_and_never_moves_pruned_weights",
        ),
    ),
)

TRAINING = (
    Fault(
        id="betas_of_torch",
        where=f"{MODELS}.gpt_trial:settings_of",
        instead=edited("betas=(0.9, 0.95)", "betas=(0.9, 0.999)"),
        breaks="AdamW has torch's second beta.",
        tests=("models/test_gpt_trial.py::test_adam_is_that_of_the_authors_code",),
    ),
    Fault(
        id="large_epsilon",
        where=f"{MODELS}.gpt_trial:settings_of",
        instead=edited("eps=1e-8", "eps=1e-6"),
        breaks="Adam's epsilon is a hundred times as large.",
        tests=("models/test_gpt_trial.py::test_adam_is_that_of_the_authors_code",),
    ),
    Fault(
        id="validation_and_test_are_swapped",
        where=f"{MODELS}.gpt_trial:finish",
        instead=edited("val_loss, test_loss = (", "test_loss, val_loss = ("),
        breaks="The validation loss is told for the test's.",
        tests=("models/test_gpt_trial.py::test_each_held_out_loss_is_of_its_own_part",),
    ),
    Fault(
        id="trained_net_is_tested_on_its_text",
        where=f"{MODELS}.gpt_trial:finish",
        instead=edited("corpus.test_N)", "corpus.train_N)"),
        breaks="The test loss is of training text.",
        tests=("models/test_gpt_trial.py::test_each_held_out_loss_is_of_its_own_part",),
    ),
    Fault(
        id="warm_up_from_zero",
        where=f"{MODELS}.training:lr_factor",
        instead=edited("(step + 1) /", "step /"),
        breaks="The first step has no learning rate.",
        tests=("models/test_training.py::test_schedules",),
    ),
    Fault(
        id="decays_to_zero",
        where=f"{MODELS}.training:lr_factor",
        instead=edited('"to_tenth": 0.1', '"to_tenth": 0.0'),
        breaks="The paper's schedule ends at nothing, and not at a tenth.",
        tests=("models/test_training.py::test_schedules",),
    ),
    Fault(
        id="rate_of_the_first_group",
        where=f"{MODELS}.training:_set_rates",
        instead=edited("peak * factor", "peaks[0] * factor"),
        breaks="All groups have the learning rate of the first.",
        tests=("models/test_training.py::test_learning_rates_of_all_groups_follow_the_schedule",),
    ),
    Fault(
        id="sum_over_parts_of_a_batch",
        where=f"{MODELS}.training:_backward",
        instead=edited(" * share", ""),
        breaks="A batch in parts has the sum of their gradients, and not the mean.",
        tests=("models/test_training.py::test_parts_of_a_batch_add_up_to_the_batch",),
    ),
    Fault(
        id="masks_from_the_start_s_stream",
        where=f"{MODELS}.training:build_gpt",
        instead=edited("generator_of(seeds.masks)", "generator_of(seeds.init)"),
        breaks="Masks are drawn by the numbers that weights start from.",
        tests=("models/test_streams.py",),
    ),
    Fault(
        id="splits_overlap",
        where=f"{MODELS}.text:split_tokens",
        instead=edited(
            "test_N=tokens_N[num_train + num_validation :]", "test_N=tokens_N[num_train:]"
        ),
        breaks="The test part holds the validation part.",
        tests=("models/test_training.py::test_splits_are_contiguous_and_vocabulary_is_sorted",),
    ),
    Fault(
        id="targets_are_the_tokens",
        where=f"{MODELS}.text:windows_at",
        instead=edited("window_BT[:, 1:]", "window_BT[:, :-1]"),
        breaks="A net is asked for the token that it is given.",
        tests=("models/test_training.py::test_targets_are_one_place_ahead",),
    ),
    Fault(
        id="windows_come_back_early",
        where=f"{MODELS}.text:training_batches",
        instead=edited(
            "torch.randperm(num_windows, generator=generator)",
            "torch.randint(num_windows, (num_windows,), generator=generator)",
        ),
        breaks="Windows are drawn with replacement.",
        tests=("models/test_training.py::test_windows_are_fresh_until_the_text_is_used_up",),
    ),
)

STACKED = (
    Fault(
        id="one_rate_for_a_stack",
        where=f"{METHOD}.stacked:_merged",
        instead=edited('float(group["lr"])', 'float(several[0]["lr"])'),
        breaks="All members of a stack have the learning rate of the first.",
        tests=("method/test_stacked.py::test_members_end_where_they_would_alone",),
    ),
    Fault(
        id="a_stack_clips_as_one",
        where=f"{METHOD}.stacked:Stack.clip_grad_norm_",
        instead=edited("(norms_M + 1e-6)", "(norms_M.norm() + 1e-6)"),
        breaks="Members of a stack are clipped by the norm of all of them.",
        tests=("method/test_stacked.py::test_members_end_where_they_would_alone",),
    ),
)

FAULTS = (*MASKS, *RULES, *DYNAMIC, *TRAINING, *STACKED)
