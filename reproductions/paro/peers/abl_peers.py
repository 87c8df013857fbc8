"""Which of the 14 effective strategies known systems can express."""

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
    param,
    value,
)
from reproductions.paro.method.peers import MEGATRON, SYSTEMS
from reproductions.paro.method.strategy import EFFECTIVE
from reproductions.paro.peers import quantities as q
from reproductions.paro.peers.experiment import Inputs, peers

EXACT = CHECK.at(*SMOKE_AND_CPU, elsewhere="no scale changes what a system's settings are")
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
            "What a user writes, and in what a setting differs that nearly is a strategy:"
            " python -m reproductions.paro peers.",
            "hpZ, and FSDP2's reshard_after_forward=m, are GGG with a second part of 1/m beside.",
            "The engine of PaRO's release takes ING too, and runs the class of IGG for it.",
            "Megatron-FSDP: version 1 splits within groups, a group being all GPUs too, and between"
            " groups optimizer states alone, where gradients are split within (IIG; NIG since"
            " Megatron-LM pull request 6773). Other stages per axis are in version 2 alone (pull"
            " request 6873), another implementation, experimental: nearly.",
            "The paper has no such table; it names DDP, ZeRO-1, 2, 3, FSDP, MiCS, FSDP-hs, FSDP-hsz"
            " and ZeRO++.",
        ),
        ours=True,
    ),
    claims=claims(
        "the text names DDP, ZeRO, FSDP and MiCS by their letters; the table is ours",
        (
            "megatron_splits_gradients_first",
            EXACT,
            equal(partial(q.off_the_rule, system=MEGATRON, nearly=("IGG",)), 0, "strategies"),
            "Megatron-FSDP, whose axes split optimizer states, then gradients, then parameters,"
            " expresses all but INI, ING, GNG and GIG, those whose parameters are split finer than"
            " their gradients; IGG in version 2 alone.",
        ),
        (
            "iig_is_found_twice",
            EXACT,
            equal(partial(q.num_who_express, strategies=("IIG",)), 2, "systems"),
            "IIG is expressed by Megatron-FSDP (HFSDP) and by PaRO's release, and by no other.",
        ),
        (
            "nobody_has_ing_or_gig",
            EXACT,
            equal(partial(q.num_who_express, strategies=("ING", "GIG")), 0, "systems"),
            "No system that we know of expresses ING or GIG.",
        ),
        (
            "nearly_holds_no_less",
            EXACT,
            at_least(q.least_bytes_ratio, 1, "ratio"),
            "A setting that nearly is a strategy holds at least that strategy's bytes (least ratio:"
            " LLaMA-7B, 1/16 trained, 32 GPUs in groups of 8).",
        ),
    ),
)
