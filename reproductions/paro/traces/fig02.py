"""Figure 2: stages of PaRO-CC's all-gather, as ranks noted it."""

from __future__ import annotations

from harness.declare import Table, Task, claims, columns_of, equal, measured, param, value
from reproductions.paro.traces import quantities as q
from reproductions.paro.traces.experiment import Gather, traced_gathers
from reproductions.paro.traces.fig01 import EXACT

task = Task(
    "paro/fig02",
    reads=(traced_gathers,),
    table=Table.of(
        columns_of(Gather),
        param("rank", int, "Who sent."),
        param("place", int, "In the order of its messages, from 0."),
        value("to", int, "The rank that received."),
        value("part", int, "Whose part the message carries."),
        value("scope", str, "intra: within a group; inter: between groups."),
        value("groups_come", int, "Groups that the part had come when it was sent: its stage."),
        value("sent_bytes", int, "Of the message."),
        measured("start_ms", float, "From the first message of any rank, sent and received."),
        measured("end_ms", float, "From there too."),
    ),
    claims=claims(
        "caption of Figure 2",
        (
            "stages_in_order",
            EXACT,
            equal(q.unlike_stages, 0, "messages"),
            "In the first stage each rank sends its own part to the next group and spreads it"
            " within its own; in every later one it does so with what came from the group before,"
            " and in the last one spreads it alone (messages out of order; the caption calls the"
            " second step inter-node, and it must be the spreading).",
        ),
        (
            "every_part_arrives_once",
            EXACT,
            equal(q.wrong_deliveries, 0, "arrivals"),
            "Every rank receives every other rank's part once.",
        ),
        (
            "none_is_sent_before_it_came",
            EXACT,
            equal(q.early_sends, 0, "messages"),
            "No rank sends on a part that has not come to it.",
        ),
        (
            "groups_meet_in_rails",
            EXACT,
            equal(q.off_their_rail, 0, "messages"),
            "What goes between groups goes from a rank to that of the same place, and carries a"
            " part of that place.",
        ),
    ),
    figure="figures:gather_tracks",
    caption="An all-gather in two layers (PaRO-CC) on six ranks of gloo in three groups (where so"
    " many ran, else on four in two), from the engine's own trace: what each rank sent in each"
    " stage, between groups and beside it within its group. Stages are drawn in their order;"
    " times, which one run on a CPU gives, are in the table alone.",
    alt="A line per rank and a column per stage: in the first each rank sends its own part to the"
    " next group and beside it within its group, in the second what came from the group before,"
    " and in the last it spreads what came within its group alone.",
)
