"""Tables of blocks, collectives, terms and counted steps, and how they are printed."""

from __future__ import annotations

from harness.declare import (
    SMALL_CHECK,
    Cell,
    Frame,
    Layout,
    Line,
    Table,
    Tables,
    Task,
    claims,
    equal,
    param,
    value,
)
from reproductions.paro.collectives import quantities as q
from reproductions.paro.collectives.experiment import (
    PAPER_INPUTS,
    Counted,
    Inputs,
    Numbered,
    Sample,
    terms,
)
from reproductions.paro.method.schedule import Term
from reproductions.paro.models.paper_inputs import SHARES

ROUNDING = 1e-12
PICTURE = "The paper's own cells are not readable"
BLOCKS = Table.of(
    Numbered,
    param("num_gpus", int, "n."),
    param("group_size", int, "m."),
    param("granularity", str, "N, I or G."),
    param("group", int, "i, from 0."),
    param("local", int, "The paper's j, a GPU's place in its group, from 0."),
    value("block_ids", str, "Blocks that the GPU holds, of 0 to n-1."),
)
COLLECTIVES = Table.of(
    Sample,
    param("operation", str, "What is done."),
    param("among", str, "world: all GPUs. intra: those of a group. inter: of a place in groups."),
    value("ranks", int, "GPUs in one of them."),
    value("before", str, "What a GPU holds before: granularity, and whose parts are in its sums."),
    value("after", str, "What it holds after."),
    value("inter_blocks", int, "Blocks that the busiest GPU sends out of its group, by rings."),
    value("intra_blocks", int, "The same within its group."),
    value("paro_cc_inter_blocks", int, "Out of its group, with PaRO-CC where all take part."),
    value("paro_cc_intra_blocks", int, "Within its group, with PaRO-CC where all take part."),
    value("paro_cc", str, "Whether fewer leave the group with PaRO-CC."),
    value("wrong_blocks", int, "Blocks that are not what one process computes."),
)
COSTS = (
    param("world", str, "Collectives of all GPUs. flat: one ring. hier: PaRO-CC in two steps."),
    value("symbols", str, "The term as a sum; X, Y, Z as the notes say."),
    value("value_s", float, "Seconds, by the method."),
    value("closed_form_s", float, "Seconds, by the sum."),
    value("inter_bytes", int, "Bytes that the busiest GPU sends out of its group."),
    value("intra_bytes", int, "Bytes that the busiest GPU sends within its group."),
)
STEPS = Table.of(
    Counted,
    param("world", str, "Collectives of all GPUs. flat: one ring. hier: PaRO-CC, phases in turn."),
    param("strategy", str, "Parameters, gradients, optimizer states."),
    value("inter_bytes", int, "Counted: sent out of its group by the busiest GPU, term by term."),
    value("intra_bytes", int, "Counted: sent within its group by the busiest GPU."),
    value("link_bytes", int, "Counted: sent out of the busiest group."),
    value("rounds", int, "Counted: rounds of rings."),
    value("held_bytes", int, "Counted: what the fullest GPU keeps between steps."),
    value("params_bytes", int, "All parameters, with their padding."),
    value("wrong_blocks", int, "Blocks that some GPU had to have and had not, or had wrong."),
    value("other_collectives", int, "Terms whose cheapest collectives are not the schedule's."),
    value("inter_difference", float, "Largest of the terms: counted less formula, in bytes."),
    value("intra_difference", float, "The same within groups."),
    value("link_difference", float, "The same of a group's shared link."),
    value("round_difference", int, "The same of rounds."),
    value("held_difference", float, "What is kept: counted less formula, in bytes."),
)


def cost_table(term: Term) -> Table:
    """Return the table of a term; a sync is between what is held and optimizer states."""
    letters = [param("held", str, "Granularity of what is held.")]
    if term in ("sync_g", "sync_p"):
        letters.append(param("states", str, "Granularity of optimizer states."))

    def of_term(tables: Tables) -> Frame:
        rows = tables[terms.id]
        return rows[rows["term"] == term].drop(columns=["term", "status"]).reset_index(drop=True)

    return Table.of(Inputs, letters, COSTS, make=of_term)


SYMBOLS = (
    "X = (g-1)/g V'/m/B, Y = (m-1)/m V'/B', Z = (n-1)/n V'/B for one ring, V' = 2 bytes per"
    " trainable parameter; x, y, z are the same for V, all parameters.",
    "With PaRO-CC Z = max((g-1) V'/n/B, (m-1) V'/n/B') + (g-1) (m-1) V'/n/B'.",
    "n = 32 GPUs in g = 4 groups of m = 8, B = 80 and B' = 2000 Gbit/s (appendix A.3.1).",
    f"{PICTURE}; we rebuilt the sums from the text and the released code.",
)
WAYS = {"flat": "one ring", "hier": "PaRO-CC, two steps"}


def _shown(share: float) -> str:
    (name,) = (name for name, each in SHARES.items() if each == share)
    return "all" if share == 1.0 else name


INPUT_LINES = tuple(
    Line(
        f"{_shown(point.trainable_share)} trained", group=f"{point.model} (s)",
        where={"model": point.model, "trainable_share": point.trainable_share},
    )
    for point in PAPER_INPUTS
)  # fmt: skip
AT_PAPER = {"num_gpus": PAPER_INPUTS[0].num_gpus, "group_size": PAPER_INPUTS[0].group_size}


def by_granularity(*, only_whole: bool = False) -> Layout:
    """Return the layout of a term that one granularity decides.

    only_whole: the share that trains does not enter it.
    """
    inputs = [line for line, point in zip(INPUT_LINES, PAPER_INPUTS, strict=True)
              if point.trainable_share == 1.0 or not only_whole]  # fmt: skip
    return Layout(
        rows=tuple(
            Line(letter, group=head, where={"held": letter, "world": world})
            for world, head in WAYS.items()
            for letter in "NIG"
        ),
        columns=(
            Line("sum", where=INPUT_LINES[0].where, cell=Cell("symbols")),
            *inputs,
        ),
        cell=Cell("value_s", digits=3),
        where=AT_PAPER,
        notes=SYMBOLS,
        inferred=True,
    )


def between_granularities(held: str) -> tuple[Layout, ...]:
    """Return the layouts of a term between what is held and optimizer states, per model."""
    return tuple(
        Layout(
            rows=tuple(
                Line(f"{held} {letter}", group=head, where={"held": letter, "world": world})
                for world, head in WAYS.items()
                for letter in "NIG"
            ),
            columns=tuple(
                Line(letter, group="optimizer states", where={"states": letter}) for letter in "NIG"
            ),
            cell=Cell("value_s", unit="s", digits=3, remark=lambda rows: rows["symbols"].iloc[0]),
            where={**AT_PAPER, "model": point.model, "trainable_share": point.trainable_share},
            title=f"{point.model}, {_shown(point.trainable_share)} of its parameters trained",
            notes=SYMBOLS if point is PAPER_INPUTS[0] else (),
            inferred=True,
        )
        for point in PAPER_INPUTS
    )


def cost_task(number: int, term: Term, layout: Layout | tuple[Layout, ...]) -> Task:
    """Return the task of a table by its number and term."""
    return Task(
        f"paro/tab{number:02}",
        reads=(terms,),
        table=cost_table(term),
        layout=layout,
        claims=claims(
            f"Table {number} and appendix A.3",
            (
                "as_in_symbols",
                SMALL_CHECK,
                equal(q.closed_form_error, 0, "share", tolerance=ROUNDING),
                "The schedule's collectives take the time of the table's sums, with one ring and"
                " with PaRO-CC.",
            ),
        ),
    )


BLOCK_NOTES = (
    "n blocks; GPU(i,j) is GPU j of group i.",
    "The released code has both numberings: contiguous for IGG and ING, strided for NIG and"
    " PaRO-CC.",
)


def block_layout(num_gpus: int, group_size: int, notes: tuple[str, ...] = ()) -> Layout:
    """Return who holds what on a cluster: a row per GPU."""
    return Layout(
        rows=tuple(
            Line(f"GPU({i},{j})", where={"group": i, "local": j})
            for i in range(num_gpus // group_size)
            for j in range(group_size)
        ),
        columns=tuple(
            Line(letter, group=numbering, where={"numbering": numbering, "granularity": letter})
            for numbering in ("contiguous", "strided")
            for letter in "NIG"
        ),
        cell=Cell("block_ids"),
        where={"num_gpus": num_gpus, "group_size": group_size},
        title=f"{num_gpus} GPUs in groups of {group_size}",
        notes=notes,
        inferred=True,
    )


NAMES = {"world": "all n", "intra": "the m of a group", "inter": "the g of a place"}
COLLECTIVE_LAYOUT = Layout(
    rows=tuple(
        Line(operation.replace("_", "-"), group=NAMES[among],
             where={"among": among, "operation": operation})
        for among in NAMES
        for operation in ("all_gather", "reduce_scatter", "all_reduce")
    ),
    columns=(
        Line("ranks", cell=Cell("ranks", digits=0)),
        Line("before", cell=Cell("before")),
        Line("after", cell=Cell("after")),
        Line("PaRO-CC helps", cell=Cell("paro_cc")),
        *(
            Line(f"{kind} groups", group=f"blocks sent, {head}", cell=Cell(name, digits=0))
            for head, names in (
                ("rings", ("inter_blocks", "intra_blocks")),
                ("PaRO-CC", ("paro_cc_inter_blocks", "paro_cc_intra_blocks")),
            )
            for kind, name in zip(("between", "within"), names, strict=True)
        ),
    ),
    where={"num_gpus": 8, "group_size": 4},
    title="8 GPUs in groups of 4",
    notes=(
        "Before and after: what a GPU holds. Blocks sent: by the busiest GPU, in n-th parts of the"
        " whole.",
    ),
    inferred=True,
)  # fmt: skip
