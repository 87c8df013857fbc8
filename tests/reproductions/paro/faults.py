"""What a careless change may do to PaRO's planner and engine, and which unit tests see it."""

from __future__ import annotations

from typing import Any

from tests.mutate.fault import Fault, edited
from tests.patches import around

METHOD = "reproductions.paro.method"
ENGINE = f"{METHOD}.engine"

RINGS = (
    Fault(
        id="ring_sends_all",
        where=f"{METHOD}.rings:ring_s",
        instead=edited("(ranks - 1) / ranks * num_bytes", "num_bytes"),
        breaks="A ring sends all of the bytes, not (k - 1) / k of them.",
        tests=("method/test_rings.py",),
    ),
    Fault(
        id="shared_link_is_free",
        where=f"{METHOD}.rings:inter_s",
        instead=edited("cluster.sharing * alone", "alone"),
        breaks="The GPUs of a group do not slow each other on a link that they share.",
        tests=("method/test_rings.py",),
    ),
    Fault(
        id="ring_of_its_fastest_hop",
        where=f"{METHOD}.rings:flat_s",
        instead=edited("min((rate", "max((rate"),
        breaks="A ring of all GPUs is as fast as its fastest hop.",
        tests=("method/test_rings.py",),
    ),
    Fault(
        id="own_row_alone_is_spread",
        where=f"{METHOD}.rings:two_step_s",
        instead=edited("+ others * row", "+ row"),
        breaks="Of the rows of other groups one is spread within a group, and not all.",
        tests=("method/test_rings.py",),
    ),
    Fault(
        id="pipeline_without_its_last_row",
        where=f"{METHOD}.rings:row_pipeline_s",
        instead=edited("hop + row,", "hop,"),
        breaks="The row that arrives last is not spread.",
        tests=("method/test_rings.py",),
    ),
)

PLANNER = (
    Fault(
        id="sync_in_the_wrong_family",
        where=f"{METHOD}.schedule:SYNC_GRADS",
        instead=lambda table: {**table, ("I", "G"): (("reduce_scatter", "intra"),)},
        breaks="IIG reduces its gradients within groups, where their sums are already.",
        tests=("method/test_schedule.py",),
    ),
    Fault(
        id="second_copy_is_not_used",
        where=f"{METHOD}.schedule:schedule",
        instead=edited("strategy.backward_params", "strategy.params"),
        breaks="The backward pass gathers as the forward pass does, whatever is kept between them.",
        tests=("method/test_schedule.py",),
    ),
    Fault(
        id="part_between_groups_is_the_whole",
        where=f"{METHOD}.schedule:Collective.parts",
        instead=around(lambda parts, collective, cluster: 1),
        breaks="Between groups every GPU sends the whole, and not one of m parts.",
        tests=("method/test_schedule.py",),
    ),
    Fault(
        id="all_reduce_goes_once_round",
        where=f"{METHOD}.step_time:TimeModel.collective_s",
        instead=edited("2 if found.kind", "1 if found.kind"),
        breaks="An all-reduce takes as long as a reduce-scatter.",
        tests=("method/test_step_time.py",),
    ),
    Fault(
        id="sync_in_every_micro_batch",
        where=f"{METHOD}.step_time:StepTime.comm",
        instead=edited(
            'passes + (self.terms["sync_g"] + self.terms["sync_p"])',
            '(passes + self.terms["sync_g"] + self.terms["sync_p"])',
        ),
        breaks="What comes once per optimizer step is counted in every micro-batch.",
        tests=("method/test_step_time.py",),
    ),
    Fault(
        id="overlap_keeps_the_shorter",
        where=f"{METHOD}.step_time:StepTime.total",
        instead=edited("max(self.comm", "min(self.comm"),
        breaks="Of communication and computation beside each other the shorter one counts.",
        tests=("method/test_step_time.py",),
    ),
    Fault(
        id="frozen_parameters_are_handed_back",
        where=f"{METHOD}.step_time:bytes_of",
        instead=edited("param_bytes * workload.num_trainable", "param_bytes * workload.num_params"),
        breaks="After an optimizer step frozen parameters are sent too.",
        tests=("method/test_step_time.py",),
    ),
    Fault(
        id="states_of_frozen_parameters",
        where=f"{METHOD}.memory:memory_of",
        instead=edited(
            "workload.state_bytes * trainable", "workload.state_bytes * workload.num_params"
        ),
        breaks="Frozen parameters have optimizer states.",
        tests=("method/test_memory.py",),
    ),
    Fault(
        id="parts_by_the_number_of_groups",
        where=f"{METHOD}.cluster:Cluster.parts",
        instead=edited('"I": self.group_size', '"I": self.num_groups'),
        breaks="What is split within a group has a part per group, and not per GPU of it.",
        tests=("method/test_cluster.py", "method/test_memory.py"),
    ),
    Fault(
        id="padding_is_cut_off",
        where=f"{METHOD}.blocks:padded_length",
        instead=edited("-(-length // num_gpus)", "(length // num_gpus)"),
        breaks="The entries that fill no block of their own are lost.",
        tests=("method/test_blocks.py",),
    ),
    Fault(
        id="blocks_of_the_wrong_place",
        where=f"{METHOD}.blocks:blocks_of",
        instead=edited("(of_group[group],)", "(of_group[local % len(of_group)],)"),
        breaks="A GPU takes of its group's blocks that of its place, and not that of its group.",
        tests=("method/test_blocks.py",),
    ),
    Fault(
        id="what_does_not_fit_is_ranked",
        where=f"{METHOD}.guideline:ranked",
        instead=edited("if found.fits", ""),
        breaks="The guideline recommends what does not fit.",
        tests=("method/test_planning.py",),
    ),
    Fault(
        id="least_memory_first",
        where=f"{METHOD}.guideline:costs",
        instead=around(lambda costs, found: costs(found)[::-1]),
        breaks="Strategies are ranked by memory first, and by time where that is equal.",
        tests=("method/test_planning.py",),
    ),
    Fault(
        id="front_of_those_strictly_better",
        where=f"{METHOD}.guideline:unbeaten",
        instead=edited("a[0] <= b[0] and a[1] <= b[1]", "a[0] < b[0] and a[1] < b[1]"),
        breaks="A strategy that is as fast and takes more memory stays on the front.",
        tests=("method/test_planning.py",),
    ),
    Fault(
        id="rule_of_the_14_looks_at_parameters_alone",
        where=f"{METHOD}.strategy:Strategy.coarser_states",
        instead=edited(', "gradients": self.grads', ""),
        breaks="Optimizer states may be split coarser than gradients.",
        tests=("method/test_strategy.py",),
    ),
    Fault(
        id="frozen_part_is_not_gathered",
        where=f"{METHOD}.peers:predicted",
        instead=edited(" / workload.trainable_share", ""),
        breaks="A system that gathers frozen parameters too takes no time for it.",
        tests=("method/test_peers.py",),
    ),
    Fault(
        id="ring_of_all_leaves_groups_as_two_layers_do",
        where=f"{METHOD}.traffic:traffic_of",
        instead=edited("(n - 1) / n if one_ring and g > 1 else", "(g - 1) / g if one_ring else"),
        breaks="A ring of all GPUs sends as few bytes between groups as PaRO-CC.",
        tests=("method/test_traffic.py",),
    ),
    Fault(
        id="tied_parameters_count_twice",
        where=f"{METHOD}.models:counted",
        instead=edited(
            "for each in net.parameters()",
            "for _, each in net.named_parameters(remove_duplicate=False)",
        ),
        breaks="A parameter with two names is counted twice.",
        tests=("method/test_models.py",),
    ),
)


def kept_as_it_was(reduce: Any, flats: Any, grads: Any) -> None:
    """Reduce a micro-batch's gradients and keep nothing of the ones before."""
    for flat in flats:
        flat.grads.zero_()
    reduce(flats, grads)


STATES = (
    Fault(
        id="sum_for_the_mean",
        where=f"{ENGINE}.transitions:sync_grads",
        instead=edited(".div_(flat.layout.cluster.num_gpus)", ""),
        breaks="Gradients are summed over ranks, and not divided by their number.",
        tests=("method/engine/test_settings.py",),
    ),
    Fault(
        id="mean_over_a_group",
        where=f"{ENGINE}.transitions:sync_grads",
        instead=edited("cluster.num_gpus", "cluster.group_size"),
        breaks="Sums over all ranks are divided by the ranks of a group.",
        tests=("method/engine/test_settings.py",),
    ),
    Fault(
        id="last_micro_batch_alone",
        where=f"{ENGINE}.transitions:reduce",
        instead=around(kept_as_it_was),
        breaks="Of several micro-batches the last one's gradients alone are kept.",
        tests=("method/engine/test_passes.py",),
    ),
    Fault(
        id="gradients_are_not_forgotten",
        where=f"{ENGINE}.state:FlatState.clear",
        instead=edited("self.grads.zero_()", "pass"),
        breaks="Gradients of the step before are added to those of this one.",
        tests=("method/engine/test_settings.py",),
    ),
    Fault(
        id="ranks_start_from_their_own",
        where=f"{ENGINE}.state:FlatState.__init__",
        instead=edited("dist.broadcast(values, src=0)", "pass"),
        breaks="Each rank starts from its own values, and not from rank 0's.",
        tests=("method/engine/test_passes.py",),
    ),
    Fault(
        id="copy_is_not_published",
        where=f"{ENGINE}.state:FlatState.publish",
        instead=around(lambda publish, flat: None),
        breaks="With a copy in higher precision the passes never see a step of the optimizer.",
        tests=("method/engine/test_exact.py",),
    ),
    Fault(
        id="norm_counts_replicas",
        where=f"{ENGINE}.paro:SHARED_BY",
        instead=lambda shared: {**shared, "I": "world"},
        breaks="The norm that clips counts a part as often as groups hold it.",
        tests=("method/engine/test_training.py::test_ranks_train_as_one_process_does[6-3-cases1]",),
    ),
    Fault(
        id="norm_of_the_own_part",
        where=f"{ENGINE}.paro:SHARED_BY",
        instead=lambda shared: {},
        breaks="Each rank clips by the norm of its own part.",
        tests=("method/engine/test_training.py::test_ranks_train_as_one_process_does[6-3-cases1]",),
    ),
    Fault(
        id="buffers_are_each_rank_s",
        where=f"{ENGINE}.paro:Paro.state_dict",
        instead=edited("dist.broadcast(found[name], src=0)", "pass"),
        breaks="A state dict has each rank's own buffers, and not rank 0's.",
        tests=("method/engine/test_settings.py",),
    ),
)

MESSAGES = (
    Fault(
        id="ring_does_not_add",
        where=f"{ENGINE}.transport:Ring.reduce_scatter",
        instead=edited("add_(arrived[buffer])", "copy_(arrived[buffer])"),
        breaks="A ring hands on what it received, and adds nothing of its own.",
        tests=("method/engine/test_collectives.py",),
    ),
    Fault(
        id="row_of_the_wrong_group",
        where=f"{ENGINE}.collectives:TwoLayer.reduce_scatter",
        instead=edited("self.inter.place - 1 - hop", "self.inter.place - hop"),
        breaks="PaRO-CC starts its reduction with the row of its own group.",
        tests=("method/engine/test_collectives.py",),
    ),
    Fault(
        id="group_by_place",
        where=f"{ENGINE}.groups:Groups.group_of",
        instead=edited("rank // self", "rank % self"),
        breaks="Ranks of one place in their groups are counted as one group.",
        tests=("method/engine/test_collectives.py::test_neighbours_are_a_group",),
    ),
    Fault(
        id="gaps_are_summed",
        where=f"{ENGINE}.transport:as_one",
        instead=edited(" or each.storage_offset() != end", ""),
        breaks="Buffers of one storage are summed as neighbours, whatever lies between them.",
        tests=(
            "method/engine/test_collectives.py::test_neighbours_are_one_buffer_and_others_are_not",
        ),
    ),
    Fault(
        id="whole_is_never_let_go",
        where=f"{ENGINE}.state:FlatState.free",
        instead=around(lambda free, flat: None),
        breaks="Gathered parameters stay whole after their pass.",
        tests=("method/engine/test_held_and_sent.py",),
    ),
)

CHECKPOINTS = (
    Fault(
        id="settings_are_not_restored",
        where=f"{ENGINE}.checkpoint:settings_of",
        instead=around(lambda settings_of, group: {}),
        breaks="A checkpoint has no learning rates.",
        tests=("method/engine/test_settings.py",),
    ),
    Fault(
        id="moments_are_not_restored",
        where=f"{ENGINE}.checkpoint:restore",
        instead=edited("if flat.is_trained:", "if False:"),
        breaks="The optimizer starts anew after a checkpoint.",
        tests=("method/engine/test_settings.py",),
    ),
    Fault(
        id="part_at_the_wrong_place",
        where=f"{ENGINE}.checkpoint:part_of",
        instead=edited("[start - span.start : stop - span.start]", "[: stop - start]"),
        breaks="What other ranks wrote is put at the start of a part.",
        tests=("method/engine/test_checkpoint.py",),
    ),
)

FAULTS = (*RINGS, *PLANNER, *STATES, *MESSAGES, *CHECKPOINTS)
