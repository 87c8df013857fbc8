"""Which of the 14 effective strategies known systems can express."""

from functools import partial

from harness.declare import (
    SMALL_CHECK,
    Cell,
    Layout,
    Line,
    Table,
    Task,
    at_least,
    claims,
    columns_of,
    equal,
    param,
    value,
)
from reproductions.paro.method.peers import MEGATRON, SYSTEMS
from reproductions.paro.method.strategy import EFFECTIVE
from reproductions.paro.peers import quantities as q
from reproductions.paro.peers.experiment import Inputs, peers

task = Task(
    "paro/abl_peers",
    reads=(peers,),
    table=Table.of(
        columns_of(Inputs),
        param("system", str, "Known system."),
        param("strategy", str, "One of the 14: parameters, gradients, optimizer states."),
        value("expressed", str, "yes: a setting is that strategy; nearly: it differs as told; no."),
        value("num_settings", int, "Settings of the system that are it, or nearest to it."),
        value("setting", str, "The first of them, by its name in `peers`; exact ones come first."),
        value("written", str, "What a user writes."),
        value("differs", str, "In what it differs from the strategy."),
        value(
            "evidence",
            str,
            "paper; code: the authors' release; sourced: the system's documentation; derived: from"
            " a rule of such a source; counted: tensors, in paro/abl_held_bytes.",
        ),
        value("bytes_ratio", float, "Bytes it holds, over the strategy's.", nullable=True),
        value("time_ratio", float, "Communication it takes, over the strategy's.", nullable=True),
    ),
    layout=Layout(
        rows=tuple(Line(system, where={"system": system}) for system in SYSTEMS),
        columns=tuple(Line(each.letters, where={"strategy": each.letters}) for each in EFFECTIVE),
        cell=Cell("expressed", digits=0, seeded=False),
        notes=(
            "`python -m reproductions.paro peers` says how to write each setting, and what differs"
            " where one is nearly a strategy.",
            "PaRO's release accepts ING and runs IGG for it.",
            "Megatron-FSDP: version 1; what only its experimental version 2 has counts as nearly.",
        ),
        ours=True,
    ),
    claims=claims(
        "the text names DDP, ZeRO, FSDP and MiCS by their letters; the table is ours",
        (
            "megatron_splits_gradients_first",
            SMALL_CHECK,
            equal(partial(q.off_the_rule, system=MEGATRON, nearly=("IGG",)), 0, "strategies"),
            "Megatron-FSDP expresses the strategies whose gradients are split at least as finely as"
            " parameters.",
        ),
        (
            "only_two_have_iig",
            SMALL_CHECK,
            equal(partial(q.num_who_express, strategies=("IIG",)), 2, "systems"),
            "Only Megatron-FSDP and PaRO's release express IIG.",
        ),
        (
            "nobody_has_ing_or_gig",
            SMALL_CHECK,
            equal(partial(q.num_who_express, strategies=("ING", "GIG")), 0, "systems"),
            "No known system expresses ING or GIG.",
        ),
        (
            "nearly_holds_no_less",
            SMALL_CHECK,
            at_least(q.least_bytes_ratio, 1, "ratio"),
            "A setting that is nearly a strategy holds at least that strategy's bytes.",
        ),
    ),
)
