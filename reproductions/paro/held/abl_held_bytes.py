"""Bytes that DDP and FSDP2 hold, counted, beside the formula's."""

from __future__ import annotations

from functools import partial

from harness.declare import (
    CHECK,
    SMOKE_AND_CPU,
    Cell,
    Layout,
    Line,
    Table,
    Task,
    at_least,
    claims,
    columns_of,
    equal,
    less_than,
    param,
    value,
)
from reproductions.paro.held import quantities as q
from reproductions.paro.held.experiment import Ranks, held
from reproductions.paro.method.peers import SETTINGS

COUNTED = CHECK.at(*SMOKE_AND_CPU, elsewhere="a larger scale shows nothing new: bytes are counted")
COUNTED_SETTINGS = [each for each in SETTINGS if each.evidence == "counted"]
HEADS = {
    "params": "parameters at rest",
    "params_between_passes": "between passes",
    "params_between_micro_batches": "between micro-batches",
    "grads": "gradients",
    "adam": "Adam's moments",
}
LAYOUT = Layout(
    rows=tuple(
        Line(f"{each.name} ({each.strategy})", where={"setting": each.name})
        for each in COUNTED_SETTINGS
    ),
    columns=tuple(Line(head, where={"state": state}) for state, head in HEADS.items()),
    cell=Cell("share_held", unit="", digits=3, seeded=False),
    where={"net": "even", "num_ranks": 4},
    title="Share of a state that a rank of four holds, in two groups",
    notes=(
        "1 is N, 1/2 is I, 1/4 is G; where two parts are held at once they add up.",
        "What a user writes for each setting: python -m reproductions.paro peers.",
        "The paper has no such table.",
    ),
    ours=True,
)
task = Task(
    "paro/abl_held_bytes",
    reads=(held,),
    table=Table.of(
        columns_of(Ranks),
        param("net", str, "even: rows of every tensor divide by the ranks; odd: of none."),
        param("setting", str, "Setting of DDP or FSDP2, by its name in `peers`."),
        param("state", str, "What is held, and when: at rest is after an optimizer step; gradients"
              " between the two micro-batches of a step."),
        value("strategy", str, "Parameters, gradients, optimizer states."),
        value("whole_bytes", int, "The whole state, in float32."),
        value("formula_bytes", float, "What a rank holds by the formula."),
        value("least_bytes", int, "What a rank holds, counted: the least of all ranks."),
        value("most_bytes", int, "The most of all ranks."),
        value("sum_bytes", int, "All ranks together."),
        value("share_held", float, "The most that a rank holds, over the whole."),
        value("row_bytes", int, "One row of every tensor, as FSDP2 pads to whole rows."),
    ),
    layout=LAYOUT,
    claims=claims(
        "on memory of the three states: 2 Psi, 2 Psi', 12 Psi' bytes; here 4, 4 and 8 of float32",
        (
            "three_granularities",
            COUNTED,
            equal(partial(q.even_error, settings=q.PLAIN), 0, "bytes"),
            "DDP, FSDP2 on a mesh of one axis and FSDP2 on a mesh of two hold on every rank the"
            " bytes of NNN, GGG and III: parameters, gradients, Adam's moments (largest"
            " difference, where rows divide by ranks).",
        ),
        (
            "other_settings",
            COUNTED,
            equal(partial(q.even_error, settings=q.PLAIN, but=True), 0, "bytes"),
            "So do FSDP2's other settings, with the letters that our table of systems gives them:"
            " whole or second parameters between passes (reshard_after_forward False or a number),"
            " whole gradients until the last micro-batch (GNG, INI), both (NNG, NNI), and a mesh"
            " whose inner axis is one rank (NNN).",
        ),
        (
            "padding_below_a_row",
            COUNTED,
            less_than(q.most_padding, 1, "rows of every tensor"),
            "Where rows do not divide, a rank of FSDP2 holds less than one row of every tensor"
            " above the formula (largest share of that).",
        ),
        (
            "padding_above_zero",
            COUNTED,
            at_least(q.least_padding, 0, "rows of every tensor"),
            "There no rank holds parameters or gradients of fewer bytes than the formula says.",
        ),
        (
            "no_moment_lost",
            COUNTED,
            equal(q.moments_error, 0, "bytes"),
            "Adam's moments of all ranks together are whole ones, one per replica: none is missing"
            " and none padded (largest difference).",
        ),
    ),
)  # fmt: skip
