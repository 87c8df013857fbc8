"""Bytes that DDP and FSDP2 hold, counted, beside the formula's."""

from harness.declare import (
    SMALL_CHECK,
    Cell,
    Layout,
    Line,
    Table,
    Task,
    at_least,
    at_most,
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
    title="Share of a state that each of four ranks holds, in two groups",
    notes=(
        "1 is N, 1/2 is I, 1/4 is G; two parts held at once add up.",
        "`python -m reproductions.paro peers` says how to write each setting.",
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
        "on memory of parameters, gradients and optimizer states",
        (
            "bytes_as_by_formula",
            SMALL_CHECK,
            at_most(q.even_errors, 0, "bytes").naming("DDP and FSDP2", "FSDP2's other settings"),
            "DDP and every setting of FSDP2 hold the bytes of their strategy, where rows divide by"
            " the ranks.",
        ),
        (
            "padding_below_a_row",
            SMALL_CHECK,
            less_than(q.most_padding, 1, "rows of every tensor"),
            "Where rows do not divide, FSDP2 adds less than one row of every tensor.",
        ),
        (
            "padding_above_zero",
            SMALL_CHECK,
            at_least(q.least_padding, 0, "rows of every tensor"),
            "No rank holds fewer bytes of parameters or gradients than the formula says.",
        ),
        (
            "no_moment_lost",
            SMALL_CHECK,
            equal(q.moments_error, 0, "bytes"),
            "All ranks together hold Adam's moments whole, once per replica.",
        ),
    ),
)  # fmt: skip
