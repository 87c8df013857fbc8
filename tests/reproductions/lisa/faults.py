"""What a careless change may do to LISA, its peers, and how models are trained and scored."""

from __future__ import annotations

from typing import Any

from tests.mutate.fault import Fault, edited
from tests.patches import around

METHOD, MODELS = "reproductions.lisa.method", "reproductions.lisa.models"


def drawn_once(draw: Any, sampler: Any) -> tuple[int, ...]:
    """Return what a sampler drew first, however often it is asked."""
    if not hasattr(sampler, "first"):
        sampler.first = draw(sampler)
    return tuple(sampler.first)


LISA = (
    Fault(
        id="no_switch",
        where=f"{METHOD}.sampling:RandomSampler.draw",
        instead=around(drawn_once),
        breaks="The blocks of the first period train for ever.",
        tests=("method/test_sampling.py",),
    ),
    Fault(
        id="one_block_fewer",
        where=f"{METHOD}.sampling:RandomSampler.draw",
        instead=edited("order[: self._gamma]", "order[: self._gamma - 1]"),
        breaks="Gamma blocks are one fewer.",
        tests=("method/test_sampling.py",),
    ),
    Fault(
        id="share_of_one_block",
        where=f"{METHOD}.sampling:RandomSampler.draw",
        instead=edited("self._gamma / self._num_blocks", "1 / self._num_blocks"),
        breaks="Bernoulli's share is that of one block.",
        tests=("method/test_sampling.py",),
    ),
    Fault(
        id="cycle_is_not_stored",
        where=f"{METHOD}.sampling:CyclicSampler.load_state_dict",
        instead=edited('self._left = list(state["left"])', "self._left = []"),
        breaks="A resumed cycle begins anew.",
        tests=("method/test_badam.py",),
    ),
    Fault(
        id="coverage_of_single_blocks",
        where=f"{METHOD}.sampling:expected_coverage",
        instead=edited("1.0 - gamma / num_blocks", "1.0 - 1.0 / num_blocks"),
        breaks="Coverage is that of one block per period.",
        tests=("method/test_sampling.py",),
    ),
    Fault(
        id="switch_a_step_early",
        where=f"{METHOD}.lisa:Lisa._count_step",
        instead=edited("self.step % self._period == 0", "(self.step + 1) % self._period == 0"),
        breaks="The first period is a step short.",
        tests=("method/test_lisa.py",),
    ),
    Fault(
        id="skipped_steps_count",
        where=f"{METHOD}.lisa:Lisa._count_step",
        instead=edited("if found_inf is not None and bool(found_inf):", "if False:"),
        breaks="Steps that a scaler skips are steps of a period.",
        tests=("method/test_lisa.py::test_steps_that_a_scaler_skips_do_not_count",),
    ),
    Fault(
        id="moments_of_frozen_blocks_stay",
        where=f"{METHOD}.lisa:Lisa._activate",
        instead=edited('if self._policy == "drop_refrozen":', "if False:"),
        breaks="Dropped moments are kept: memory climbs, and a block goes on where it was.",
        tests=("method/test_lisa.py",),
    ),
    Fault(
        id="gradients_of_frozen_blocks_stay",
        where=f"{METHOD}.lisa:Lisa._activate",
        instead=edited("parameter.grad = None", "pass"),
        breaks="A frozen block keeps its last gradient.",
        tests=("method/test_lisa.py::test_gradients_of_refrozen_blocks_are_freed",),
    ),
    Fault(
        id="moments_are_never_reset",
        where=f"{METHOD}.lisa:Lisa._activate",
        instead=edited("optimizer.state.clear()", "pass"),
        breaks="BAdam's switches keep all moments.",
        tests=("method/test_badam.py::test_training_is_that_of_blocks_one_after_another",),
    ),
    Fault(
        id="checkpoint_of_step_0",
        where=f"{METHOD}.lisa:Lisa._add_state",
        instead=edited('"step": self.step', '"step": 0'),
        breaks="A checkpoint says that nothing was trained.",
        tests=("method/test_resume.py::test_resumed_equals_uninterrupted",),
    ),
    Fault(
        id="head_is_always_on",
        where=f"{METHOD}.blocks:embedding_parameters",
        instead=edited("layers += [head] if head is not None else []", "pass"),
        breaks="With frozen embeddings the head trains.",
        tests=("method/test_blocks.py", "method/test_lisa.py"),
    ),
    Fault(
        id="nothing_is_visited",
        where=f"{METHOD}.lisa:Lisa._count_step",
        instead=edited("self.visited.update(self.active)", "pass"),
        breaks="No block counts as visited.",
        tests=("method/test_lisa.py",),
    ),
)

GALORE = (
    Fault(
        id="least_singular_vectors",
        where=f"{METHOD}.galore:projector",
        instead=edited("right[:rank] if tall", "right[-rank:] if tall"),
        breaks="GaLore keeps what matters least in a tall gradient.",
        tests=("method/test_galore.py",),
    ),
    Fault(
        id="update_without_its_scale",
        where=f"{METHOD}.galore:_step_projected",
        instead=edited(', alpha=group["scale"]', ""),
        breaks="GaLore's alpha is 1.",
        tests=("method/test_galore.py",),
    ),
    Fault(
        id="projected_decay_is_coupled",
        where=f"{METHOD}.galore:_step_projected",
        instead=edited('1.0 - group["lr"] * group["weight_decay"]', '1.0 - group["weight_decay"]'),
        breaks="Weights decay by the decay itself, whatever the learning rate.",
        tests=("method/test_galore.py",),
    ),
    Fault(
        id="projector_is_never_renewed",
        where=f"{METHOD}.galore:_step_projected",
        instead=edited('% group["update_gap"] == 0', "== 0"),
        breaks="The first gradient's projector is kept for ever.",
        tests=("method/test_galore.py",),
    ),
    Fault(
        id="head_is_projected",
        where=f"{METHOD}.methods:_linears",
        instead=edited("and module is not head", ""),
        breaks="GaLore projects the head too, and LoRA adapts it.",
        tests=("method/test_galore.py",),
    ),
)

ADAPTERS = (
    Fault(
        id="alpha_is_ignored",
        where=f"{METHOD}.methods:Lora.prepare",
        instead=edited("lora_alpha=self.alpha", "lora_alpha=self.rank"),
        breaks="LoRA's scale is 1, whatever alpha.",
        tests=("method/test_methods.py",),
    ),
    Fault(
        id="alpha_over_the_root_of_the_rank",
        where=f"{METHOD}.methods:Lora.prepare",
        instead=edited("r=self.rank,", "r=self.rank, use_rslora=True,"),
        breaks="LoRA's scale is alpha over the root of the rank.",
        tests=("method/test_methods.py",),
    ),
    Fault(
        id="lisa_trains_all_blocks",
        where=f"{METHOD}.lisa:Lisa._draw",
        instead=around(lambda draw, lisa: tuple(range(len(lisa.blocks)))),
        breaks="LISA freezes no block.",
        tests=("method/test_lisa.py",),
    ),
)

TRAINING = (
    Fault(
        id="rate_without_a_warm_up",
        where=f"{MODELS}.training:Recipe.share_at",
        instead=edited("if step < self.warmup_steps:", "if False:"),
        breaks="The learning rate starts at its highest.",
        tests=(
            "models/test_training.py::test_the_rate_rises_over_the_warm_up_and_falls_along_a_cosine",
        ),
    ),
    Fault(
        id="rate_of_the_first_step",
        where=f"{MODELS}.training:train",
        instead=edited("enumerate(batches, start=first_step)", "enumerate(batches)"),
        breaks="A resumed run starts its schedule anew.",
        tests=("models/test_training.py",),
    ),
    Fault(
        id="no_clipping",
        where=f"{MODELS}.training:train",
        instead=edited("recipe.clip_norm)", "float('inf'))"),
        breaks="Gradients are not clipped.",
        tests=("models/test_training.py",),
    ),
    Fault(
        id="prompts_are_learned",
        where=f"{MODELS}.training:pad",
        instead=edited(
            "labels_BT[row, num_given : len(tokens)] = ids_BT[row, num_given : len(tokens)]",
            "labels_BT[row, : len(tokens)] = ids_BT[row, : len(tokens)]",
        ),
        breaks="The loss is taken on prompts too.",
        tests=("models/test_training.py", "models/test_instructions.py"),
    ),
    Fault(
        id="targets_are_not_shifted",
        where=f"{MODELS}.training:answer_nats",
        instead=edited("batch.labels_BT[:, 1:]", "batch.labels_BT[:, :-1]"),
        breaks="A token is asked for at its own place.",
        tests=("models/test_training.py",),
    ),
    Fault(
        id="mean_over_batches",
        where=f"{MODELS}.training:mean_loss",
        instead=edited(
            "return nats / sum(int(count.sum()) for _, count in parts)",
            "means = [float(one.double().sum()) / int(count.sum()) for one, count in parts]\n"
            "    return sum(means) / len(means)",
        ),
        breaks="Batches weigh the same, and not tokens.",
        tests=("models/test_training.py",),
    ),
    Fault(
        id="splits_by_what_is_asked_for",
        where=f"{MODELS}.instructions:load_instructions",
        instead=edited(
            'SPLIT_OF[kind] if kind < len(SPLIT_OF) else "train"',
            '"train" if len(found["train"]) < wanted["train"] else SPLIT_OF[kind % 2]',
        ),
        breaks="An example's split is not its hash's.",
        tests=(
            "models/test_instructions.py::test_held_out_examples_are_the_same_however_many_are_trained_on",
        ),
    ),
)

SCORES = (
    Fault(
        id="exit_one_block_early",
        where="reproductions.lisa.dola.decoding:dola",
        instead=edited("found.hidden_states[number]", "found.hidden_states[max(0, number - 1)]"),
        breaks="DoLa leaves the model a block before its exits.",
        tests=("dola/test_decoding.py",),
    ),
    Fault(
        id="nearest_exit",
        where="reproductions.lisa.dola.decoding:contrast",
        instead=edited("argmax(0)", "argmin(0)"),
        breaks="DoLa contrasts with the exit that says most nearly the same.",
        tests=("dola/test_decoding.py",),
    ),
    Fault(
        id="every_token_is_plausible",
        where="reproductions.lisa.dola.decoding:contrast",
        instead=edited(
            "difference_BV.masked_fill(log_last_BV < least_B1, -math.inf)", "difference_BV"
        ),
        breaks="DoLa takes tokens that no block finds likely.",
        tests=("dola/test_decoding.py",),
    ),
    Fault(
        id="divergence_of_one_side",
        where="reproductions.lisa.dola.decoding:divergence",
        instead=edited("(to_p + to_q) / 2", "to_p"),
        breaks="The divergence is not symmetric.",
        tests=("dola/test_decoding.py",),
    ),
    Fault(
        id="padding_has_places",
        where=f"{MODELS}.generation:_Batch._inputs",
        instead=edited("(self._mask_BT.cumsum(-1) - 1)", "self._mask_BT.cumsum(-1)"),
        breaks="Every token stands a place too far.",
        tests=("models/test_generation.py",),
    ),
    Fault(
        id="penalty_rewards_negative_scores",
        where=f"{MODELS}.generation:_penalised",
        instead=edited("scores_BV * penalty", "scores_BV / penalty"),
        breaks="Seen tokens of negative scores are made likelier.",
        tests=(
            "models/test_generation.py::test_a_penalty_makes_seen_tokens_less_likely_whatever_the_sign",
        ),
    ),
    Fault(
        id="continuation_is_scored_a_place_early",
        where="reproductions.lisa.lm_benchmarks.scorer:cut",
        instead=edited("(*before, *targets[:-1])", "(*before, *targets)"),
        breaks="A continuation's tokens are asked for one place too late.",
        tests=("lm_benchmarks/test_scorer.py",),
    ),
    Fault(
        id="least_likely_choice",
        where="reproductions.lisa.lm_benchmarks.scorer:choice_accuracy",
        instead=edited("scores.index(max(scores))", "scores.index(min(scores))"),
        breaks="The least likely choice is the answer.",
        tests=("lm_benchmarks/test_scorer.py",),
    ),
    Fault(
        id="half_of_the_cross_term",
        where="reproductions.lisa.norms.layers:merged_norm",
        instead=edited("2.0 * inner", "inner"),
        breaks="The cross term of a merged norm counts once.",
        tests=("norms/test_layers.py",),
    ),
)

FAULTS = (*LISA, *GALORE, *ADAPTERS, *TRAINING, *SCORES)
