"""What a careless change may do to (FG)2U, its exact and biased peers, and its problems."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.mutate.fault import Fault, edited
from tests.patches import around

METHOD, MODELS = "reproductions.fg2u.method", "reproductions.fg2u.models"
IMAGE_SETS = "reproductions.fg2u.image_sets"

INNER_STEPS = (
    Fault(
        id="adam_without_bias_correction",
        where=f"{METHOD}.optimizers:Adam.update",
        instead=edited(
            "1 - self.beta1 ** (number + 1), 1 - self.beta2 ** (number + 1)", "1.0, 1.0"
        ),
        breaks="Moments that start at zero are taken as they are.",
        tests=("method/test_optimizers.py",),
    ),
    Fault(
        id="adam_counts_from_zero",
        where=f"{METHOD}.optimizers:Adam.update",
        instead=edited("self.beta2 ** (number + 1)", "self.beta2 ** (number + 2)"),
        breaks="The second moment is corrected for a step more than there were.",
        tests=("method/test_optimizers.py",),
    ),
    Fault(
        id="epsilon_outside_the_root",
        where=f"{METHOD}.optimizers:Adam.update",
        instead=edited(
            "(v / spread + self.eps_root).sqrt()", "((v / spread).sqrt() + self.eps_root**0.5)"
        ),
        breaks="Where a gradient is zero, every hypergradient is NaN.",
        tests=("method/test_optimizers.py",),
    ),
    Fault(
        id="momentum_is_dampened",
        where=f"{METHOD}.optimizers:Sgd.update",
        instead=edited(
            "_plus(g, self.momentum, m)", "_plus((1 - self.momentum) * g, self.momentum, m)"
        ),
        breaks="Momentum is a mean of gradients, and not their heavy-ball sum.",
        tests=("method/test_optimizers.py",),
    ),
    Fault(
        id="start_is_the_same_tensor",
        where=f"{METHOD}.problem:GradientStep.taped",
        instead=edited("p.view_as(p) if", "p if"),
        breaks="Where a start is phi itself, the inner gradient is that by phi too.",
        tests=("method/test_exact.py::test_a_start_that_is_phi_itself",),
    ),
)


def of_each_chunk(rows: Any, drawn: Any, numbers: Any, device: Any = None) -> Any:
    """Return the directions of the first chunk, whatever their numbers."""
    return rows(drawn, range(len(numbers)), device)


DIRECTIONS = (
    Fault(
        id="sum_over_directions",
        where=f"{METHOD}.directions:Directions.weights",
        instead=edited("1.0 / self.count", "1.0"),
        breaks="Directions are summed, and not averaged.",
        tests=("method/test_directions.py::test_all_coordinates_make_the_identity",),
    ),
    Fault(
        id="same_directions_in_every_chunk",
        where=f"{METHOD}.directions:Directions.rows",
        instead=around(of_each_chunk),
        breaks="Each chunk has the directions of the first one.",
        tests=("method/test_directions.py::test_a_direction_is_its_number_s",),
    ),
    Fault(
        id="signs_of_zero_and_one",
        where=f"{METHOD}.directions:Directions._drawn",
        instead=edited("* 2.0 - 1.0", "* 2.0**0.5"),
        breaks="Signs are zeros and roots of two, whose covariance is not the identity.",
        tests=(
            "method/test_directions.py::test_random_directions_have_the_identity_for_covariance",
        ),
    ),
    Fault(
        id="coordinates_of_length_one",
        where=f"{METHOD}.directions:Directions.rows",
        instead=edited("self.num_entries**0.5", "1.0"),
        breaks="All coordinates together are 1/N of the identity.",
        tests=("method/test_directions.py::test_all_coordinates_make_the_identity",),
    ),
    Fault(
        id="grid_of_equal_weights",
        where=f"{METHOD}.directions:Directions.weights",
        instead=edited("np.exp(-0.5 *", "np.exp(-0.0 *"),
        breaks="The nodes of the grid count alike, and not as a normal density.",
        tests=("method/test_directions.py::test_the_grid_weighs_its_nodes_as_a_normal_density",),
    ),
    Fault(
        id="workers_share_a_direction",
        where=f"{METHOD}.workers:Workers.own",
        instead=edited("+ min(self.rank, more)", ""),
        breaks="Where directions do not divide evenly, two workers take the same one.",
        tests=("method/test_workers.py::test_every_direction_is_one_worker_s",),
    ),
    Fault(
        id="each_worker_draws_its_own",
        where=f"{METHOD}.workers:Workers.agreed",
        instead=around(lambda agreed, workers, seed, device: seed),
        breaks="Workers do not agree on the seed, and their estimate is nobody's.",
        tests=("method/test_workers.py::test_processes_agree_with_one",),
    ),
    Fault(
        id="signs_from_another_key",
        where=f"{METHOD}.directions:Directions.combined",
        instead=edited("self.seed, numbers", "self.seed + 1, numbers"),
        breaks="Slopes are those of one draw of signs, and the sum is over another one.",
        tests=(
            "method/test_directions.py::test_signs_from_a_counter_are_the_kernels_and_are_summed_again",
        ),
    ),
)


def tangents_of_the_weights(flat: Any, optimizer: Any, state: Any, dims: int) -> Any:
    """Return a state whose first slot has the tangents of the weights, where it has any."""
    found = flat(optimizer, state, dims)
    return replace(found, first=found.value) if dims else found


FORWARD = (
    Fault(
        id="noise_of_gaussians",
        where=f"{METHOD}.forward:_noise",
        instead=edited('(1 if drawn.kind == "gaussian" else -1)', "1"),
        breaks="Lemma 3.1 has N + 1 for N - 1.",
        tests=(
            "method/test_forward.py::test_the_noise_of_gaussian_directions_has_two_entries_more",
        ),
    ),
    Fault(
        id="central_difference_over_one_mu",
        where=f"{METHOD}.forward:Fg2uZo.slopes",
        instead=edited("/ (2 * self.mu)", "/ self.mu"),
        breaks="A central difference is divided by half its distance.",
        tests=("method/test_forward.py::test_differences_near_the_derivative_by_mu",),
    ),
    Fault(
        id="outer_loss_s_own_phi_is_left_out",
        where=f"{METHOD}.forward:Fg2uZo.slopes",
        instead=edited("if along_phi is not None", "if False"),
        breaks="Differences of the result lack what phi does to the outer loss itself.",
        tests=("method/test_solver.py::test_either_difference_tends_to_the_gradient",),
    ),
    Fault(
        id="adjoint_without_phi",
        where=f"{METHOD}.adjoint:Fg2uAdjoint.slopes",
        instead=edited(" + _product(rows, grad)", ""),
        breaks="w = c y_T, without d v.",
        tests=("method/test_adjoint.py::test_the_estimate_is_fg2u_s",),
    ),
    Fault(
        id="tangent_of_the_slots_is_lost",
        where=f"{METHOD}.tangents:_flat",
        instead=around(tangents_of_the_weights),
        breaks="By the kernel's rules the first moment starts with the tangent of the weights.",
        tests=("method/test_tangents.py::test_a_pass_by_the_kernels_rules_is_torch_func_s",),
    ),
    Fault(
        id="kernel_s_rate_has_no_tangent",
        where=f"{METHOD}.tangents:carry",
        instead=edited("d_lr.to(dtype)", "torch.zeros_like(d_lr).to(dtype)"),
        breaks="By the kernel's rules a step size that phi sets has no derivative.",
        tests=("method/test_tangents.py::test_a_pass_by_the_kernels_rules_is_torch_func_s",),
    ),
)

REVERSE = (
    Fault(
        id="start_is_a_constant",
        where=f"{METHOD}.reverse:Segmented.through_start",
        instead=edited(
            "return pulled_back(problem.start(phi, batch), phi, adjoint)",
            "return tree_map(torch.zeros_like, phi)",
        ),
        breaks="What phi does to the start adds nothing to the gradient.",
        tests=("method/test_exact.py::test_exact_methods_agree",),
    ),
    Fault(
        id="one_step_more_is_walked",
        where=f"{METHOD}.reverse:Trgu.parts",
        instead=edited("kept=self.keep)", "kept=min(self.keep + 1, problem.num_steps))"),
        breaks="Truncation walks back a step more than was asked for.",
        tests=(
            "method/test_exact.py::test_a_truncation_forgets_what_phi_did_early",
            "method/test_exact.py::test_a_skipped_first_step_is_what_trgu_leaves_out",
        ),
    ),
    Fault(
        id="mixflow_drops_the_slots",
        where=f"{METHOD}.reverse:RguMixflow.kept",
        instead=edited("or problem.gradient_step.optimizer.slots_matter", ""),
        breaks="Steps of Adam are walked back with moments of zero.",
        tests=("method/test_exact.py::test_exact_methods_agree",),
    ),
    Fault(
        id="mixflow_s_rate_is_a_constant",
        where=f"{METHOD}.reverse:RguMixflow._back",
        instead=edited("added(by_rate, by_phi)", "by_phi"),
        breaks="A step size that phi sets adds nothing to the gradient.",
        tests=("method/test_exact.py::test_exact_methods_agree",),
    ),
    Fault(
        id="segments_end_early",
        where=f"{METHOD}.reverse:segments",
        instead=edited("range(0, num_steps, size)", "range(0, num_steps - num_steps % size, size)"),
        breaks="The steps that fill no segment are left out.",
        tests=("method/test_exact.py::test_exact_methods_agree",),
    ),
    Fault(
        id="series_without_its_scale",
        where=f"{METHOD}.implicit:Neumann.parts",
        instead=edited("v - alpha * h", "v - h"),
        breaks="The Neumann series is that of 1 - H, whatever alpha.",
        tests=("method/test_implicit.py",),
    ),
    Fault(
        id="implicit_part_is_added",
        where=f"{METHOD}.implicit:Neumann.parts",
        instead=edited("tree_map(torch.sub, grad, mixed)", "added(grad, mixed)"),
        breaks="The implicit part has the wrong sign.",
        tests=("method/test_implicit.py",),
    ),
    Fault(
        id="first_step_s_rate",
        where=f"{METHOD}.implicit:Neumann.parts",
        instead=edited("step.optimizer.step_size(phi, last)", "step.optimizer.step_size(phi, 0)"),
        breaks="The series' scale is the first step's rate, and not the last one's.",
        tests=("method/test_implicit.py",),
    ),
)

DESCENT = (
    Fault(
        id="sum_over_batches",
        where=f"{METHOD}.descent:_take",
        instead=edited("scaled(1.0 / len(found), mean)", "mean"),
        breaks="An accumulated step is along the sum of its estimates.",
        tests=("method/test_descent.py::test_accumulation_means_batches_and_tells_their_noise",),
    ),
    Fault(
        id="moments_outlive_their_phase",
        where=f"{METHOD}.descent:_stepper_of",
        instead=edited("stepper is None or not phase.keep_moments", "stepper is None"),
        breaks="The outer optimizer always goes on with the moments of the phase before.",
        tests=("method/test_descent.py::test_moments_are_kept_only_where_asked",),
    ),
    Fault(
        id="first_phase_s_rate",
        where=f"{METHOD}.descent:_stepper_of",
        instead=edited('group["lr"] = phase.lr', "pass"),
        breaks="With kept moments the step size stays that of the first phase.",
        tests=("method/test_descent.py::test_kept_moments_take_the_next_phase_s_step_size",),
    ),
    Fault(
        id="spread_for_the_mean_s_error",
        where=f"{METHOD}.descent:_noise",
        instead=edited("(len(found) * (len(found) - 1))", "(len(found) - 1)"),
        breaks="The noise of a mean is told as that of one of its batches.",
        tests=("method/test_descent.py::test_accumulation_means_batches_and_tells_their_noise",),
    ),
    Fault(
        id="rounds_are_cut_off",
        where=f"{METHOD}.costs:_seconds",
        instead=edited("-(-method.num_directions // method.chunk)", "1"),
        breaks="A report tells the seconds of the first chunk for all of them.",
        tests=(
            "method/test_memory.py::test_a_report_takes_few_directions_and_tells_the_time_of_all",
        ),
    ),
)

PROBLEMS = (
    Fault(
        id="tests_among_the_training_digits",
        where=f"{MODELS}.condensation:split_digits",
        instead=edited("order[NUM_TRAIN:])", "order[NUM_TRAIN - 100 :])"),
        breaks="A hundred digits are in both splits.",
        tests=("condensing/test_trial.py::test_no_digit_is_in_both_splits_and_seeds_draw_others",),
    ),
    Fault(
        id="pixels_leave_their_range",
        where="reproductions.fg2u.condensing.trial:condensing_rows",
        instead=edited("images.clamp_(0.0, 1.0)", "pass"),
        breaks="Condensed images are no pixels.",
        tests=("condensing/test_trial.py::test_images_are_kept_as_pixels",),
    ),
    Fault(
        id="divergence_the_other_way_round",
        where=f"{MODELS}.adaptation:locality",
        instead=edited('direction == "initial_updated"', 'direction != "initial_updated"'),
        breaks="The paper's divergence and the released code's are swapped.",
        tests=(
            "models/test_adaptation.py::test_the_two_directions_of_the_divergence_are_zero_at_the_start_and_differ_later",
        ),
    ),
    Fault(
        id="answers_a_token_early",
        where=f"{MODELS}.adaptation:answer_loss",
        instead=edited("questions.counts[:, 1:]", "questions.counts[:, :-1]"),
        breaks="What counts of an answer is shifted by a token against its losses.",
        tests=("models/test_adaptation.py::test_an_answer_s_loss_is_that_of_its_own_tokens",),
    ),
    Fault(
        id="mean_over_a_document_s_tokens",
        where=f"{MODELS}.adaptation:document_loss",
        instead=edited("/ len(tokens_L)", "/ counts_L.sum()"),
        breaks="A document's loss is divided by its length, and not by the window.",
        tests=(
            "models/test_adaptation.py::test_a_document_is_divided_by_the_window_and_not_by_its_length",
        ),
    ),
    Fault(
        id="padding_counts",
        where=f"{MODELS}.adaptation:document_loss",
        instead=edited("(weights_L * counts_L)[1:]", "weights_L[1:]"),
        breaks="Padding counts in a document's loss.",
        tests=(
            "models/test_adaptation.py::test_a_document_is_divided_by_the_window_and_not_by_its_length",
        ),
    ),
    Fault(
        id="no_weight_decay",
        where=f"{IMAGE_SETS}.problem:training_loss",
        instead=edited(" + DECAY * squares", ""),
        breaks="The inner loss has no weight decay.",
        tests=("image_sets/test_trial.py::test_nets_train_on_images_as_under_torch",),
    ),
    Fault(
        id="cosine_is_a_step_ahead",
        where=f"{IMAGE_SETS}.problem:cosine",
        instead=edited("math.pi * number", "math.pi * (number + 1)"),
        breaks="Inner step sizes fall a step too early.",
        tests=("image_sets/test_trial.py::test_nets_train_on_images_as_under_torch",),
    ),
    Fault(
        id="dispersion_of_the_wrong_sign",
        where=f"{MODELS}.pinn:residual_loss",
        instead=edited("+ nu * u_xxx", "- nu * u_xxx"),
        breaks="The residual of Korteweg-de Vries has nu's sign wrong.",
        tests=("models/test_pinn.py::test_the_residual_is_the_equations",),
    ),
)

SPLITS_AND_STREAMS = (
    Fault(
        id="outer_loss_judges_by_tests",
        where="reproductions.fg2u.condensing.trial:condensing_rows",
        instead=edited("train, test = split_digits(ctx)", "test, train = split_digits(ctx)"),
        breaks="Images are condensed for the test digits, and scored on those of training.",
        tests=(
            "condensing/test_trial.py::test_training_digits_judge_images_and_fresh_nets_score_them_on_the_others",
        ),
    ),
    Fault(
        id="scored_by_nets_of_training",
        where="reproductions.fg2u.condensing.trial:_scores",
        instead=edited('generator_of(ctx, "evaluation")', 'generator_of(ctx, "init")'),
        breaks="The nets that score images are those that they were condensed for.",
        tests=(
            "condensing/test_trial.py::test_training_digits_judge_images_and_fresh_nets_score_them_on_the_others",
        ),
    ),
    Fault(
        id="images_are_scored_on_training_data",
        where=f"{IMAGE_SETS}.trial:_finished",
        instead=edited("accuracies(params, images, test,", "accuracies(params, images, train,"),
        breaks="Test accuracies are of training images.",
        tests=("image_sets/test_trial.py::test_fresh_nets_are_scored_on_test_images",),
    ),
    Fault(
        id="test_images_are_trained_on",
        where=f"{IMAGE_SETS}.data:splits_of",
        instead=edited("order[NUM_TEST_DIGITS:])", "order)"),
        breaks="Bundled test digits are among those of training.",
        tests=("image_sets/test_trial.py::test_images_as_they_are_drawn_take_no_gradient",),
    ),
    Fault(
        id="second_phase_repeats_the_first",
        where=f"{IMAGE_SETS}.trial:descended",
        instead=edited('"second " if isinstance(params, Continuation) else ""', '""'),
        breaks="A second phase has the nets and the batches of the first.",
        tests=("image_sets/test_trial.py::test_each_phase_descends_along_its_own_batches",),
    ),
    Fault(
        id="step_size_by_test_answers",
        where=f"{MODELS}.stream:reading",
        instead=edited("asked(questions_of(corpus.validation)", "asked(questions_of(corpus.test)"),
        breaks="The step size of a stream is chosen by the test's answers.",
        tests=(
            "models/test_adaptation.py::test_reading_uses_the_validation_stream_for_its_step_size_and_weights_of_tokens",
        ),
    ),
    Fault(
        id="step_size_by_the_test_stream",
        where=f"{MODELS}.stream:reading",
        instead=edited(
            "corpus.validation, corpus.window, lr=lr", "corpus.test, corpus.window, lr=lr"
        ),
        breaks="The step size of a stream is chosen on the test stream.",
        tests=(
            "models/test_adaptation.py::test_reading_uses_the_validation_stream_for_its_step_size_and_weights_of_tokens",
        ),
    ),
    Fault(
        id="largest_validation_loss",
        where=f"{MODELS}.stream:reading",
        instead=edited("min(range(len(lrs))", "max(range(len(lrs))"),
        breaks="The worst step size is taken.",
        tests=(
            "models/test_adaptation.py::test_reading_uses_the_validation_stream_for_its_step_size_and_weights_of_tokens",
        ),
    ),
    Fault(
        id="log_range_is_drawn_evenly",
        where="reproductions.fg2u.coefficients.inverse:initial",
        instead=edited('params.drawn == "log"', 'params.drawn == "even"'),
        breaks="Starts that should be even in their logarithm are even, and the other way round.",
        tests=(
            "coefficients/test_trials.py::test_a_seed_is_one_place_in_a_range_and_in_that_of_its_logarithm",
        ),
    ),
    Fault(
        id="error_over_what_was_found",
        where="reproductions.fg2u.coefficients.inverse:judged",
        instead=edited("abs(found - true) / true", "abs(found - true) / found"),
        breaks="The relative error is of the coefficient that was found.",
        tests=(
            "coefficients/test_trials.py::test_the_coefficient_is_told_with_its_error_relative_to_the_true_one",
        ),
    ),
    Fault(
        id="misfit_of_the_root",
        where="reproductions.fg2u.coefficients.inverse:judged",
        instead=edited("float(coefficient(params, phi))", "float(phi)"),
        breaks="Where its root is descended in, the root is told for the coefficient.",
        tests=(
            "coefficients/test_trials.py::test_the_coefficient_is_told_with_its_error_relative_to_the_true_one",
        ),
    ),
    Fault(
        id="warm_up_of_one_step",
        where=f"{MODELS}.stream:_share",
        instead=edited("(step + 1) / recipe.warmup_steps", "(step + recipe.warmup_steps)"),
        breaks="A base model's learning rate does not warm up.",
        tests=(
            "models/test_adaptation.py::test_a_base_model_s_rate_warms_up_and_falls_to_a_tenth",
        ),
    ),
)

FAULTS = (*INNER_STEPS, *DIRECTIONS, *FORWARD, *REVERSE, *DESCENT, *PROBLEMS, *SPLITS_AND_STREAMS)
