"""Figure 2: stages of PaRO-CC's all-gather, as ranks noted it."""

from harness.declare import (
    SMALL_CHECK,
    Table,
    Task,
    at_most,
    claims,
    columns_of,
    equal,
    measured,
    param,
    value,
)
from reproductions.paro.traces import quantities as q
from reproductions.paro.traces.experiment import Gather, traced_gathers

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
            SMALL_CHECK,
            equal(q.unlike_stages, 0, "messages"),
            "In each stage a rank sends a part to the next group and spreads it within its own.",
        ),
        (
            "parts_arrive_once",
            SMALL_CHECK,
            at_most(q.misdelivered, 0, "messages").naming(
                "wrong arrivals", "sent too early", "between unlike places"
            ),
            "Every rank receives every other's part once; between groups ranks of the same place"
            " meet.",
        ),
    ),
    figure="figures:gather_tracks",
    caption="PaRO-CC's all-gather: what each rank sends in each stage, between groups (upper bar)"
    " and within its group (lower bar). Stages are drawn in their order; their times are in the"
    " table.",
    alt="A line per rank and a column per stage. In the first stage each rank sends its own part to"
    " the next group and within its own group; in the next it does so with what came from the"
    " group before; in the last it only spreads what came within its group.",
)
