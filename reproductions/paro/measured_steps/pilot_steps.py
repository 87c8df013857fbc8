"""A pilot: how often steps must be timed, and which links known bytes fill on eight ranks."""

from __future__ import annotations

from harness.declare import Cell, Frame, Layout, Line, Table, Tables, Task, measured, param
from reproductions.paro.measured_steps.experiment import OURS, SLOWER, step_pilots
from reproductions.paro.measured_steps.table import STEP_COLUMNS, name_of, of_setting

TURNS = 3
BESIDE = ["question", "num_ranks", "inter_mbit_per_s", "first_turns", "seed"]
"""What settings share that are compared."""
ZERO3 = "GGG"


def by_first_turns(tables: Tables) -> Frame:
    """Return rows with what known bytes take, and with speeds over ZeRO-3's beside them."""
    import numpy as np

    rows = tables[step_pilots.id].reset_index(drop=True)
    speeds = of_setting(rows, ZERO3, "step_s", BESIDE) / rows["step_s"].astype("float64").to_numpy()
    return rows.assign(
        known_between=rows["inter_mbit_per_s"] / 1e3 / rows["inter_gbit_per_s"],
        known_within=rows["intra_mbit_per_s"] / 1e3 / rows["intra_gbit_per_s"],
        speed_over_zero3=np.where(rows["setting"] == ZERO3, np.nan, speeds),
    )


LINKS = Layout(
    rows=(
        Line("four ranks, 200 and 5000 Mbit/s", where={"question": "full", "num_ranks": 4}),
        Line("eight ranks, the same", where={"question": "scaling", "inter_mbit_per_s": 200.0}),
        Line(
            "eight ranks, 20 and 500 Mbit/s",
            where={"question": "scaling", "inter_mbit_per_s": SLOWER["inter_mbit_per_s"]},
        ),
    ),
    columns=(
        Line("between groups", cell=Cell("known_between", digits=3)),
        Line("within a group", cell=Cell("known_within", digits=3)),
        Line("computation, s", cell=Cell("compute_s", digits=3)),
        Line("step, s", cell=Cell("step_s", digits=3)),
    ),
    where={"setting": "IIG", "first_turns": TURNS},
    title="Time of known bytes over what arithmetic says, and IIG's steps",
    ours=True,
    notes=(
        "Trials on four and eight ranks take the slower links if known bytes within a group are"
        " there within 5 % of arithmetic, and at the faster ones are not.",
    ),
)
REPEATS = Layout(
    rows=tuple(Line(name_of(name), where={"setting": name}) for name in OURS if name != ZERO3),
    columns=tuple(
        Line(f"{count} of {TURNS} turns", where={"first_turns": count})
        for count in range(1, TURNS + 1)
    ),
    cell=Cell("speed_over_zero3", digits=3),
    where={"question": "full"},
    title="Speed over ZeRO-3's, all parameters trained, by first turns",
    ours=True,
    notes=(
        "Steps stay timed three times each if no standard error of three turns here is above a"
        " tenth of how far the speed is from 1, where that is more than a twentieth; else five.",
    ),
)

task = Task(
    "paro/pilot_steps",
    own_kind="ablation",
    reads=(step_pilots,),
    table=Table.of(
        STEP_COLUMNS,
        param("first_turns", int, "Of how many turns, from the first one on, the row speaks."),
        measured("known_between", float, "Time of known bytes between groups over bytes by the rate"
                 " of the link, all ranks at once."),
        measured("known_within", float, "The same within groups."),
        measured("speed_over_zero3", float, "Speed over that of ZeRO-3 beside it.", nullable=True),
        make=by_first_turns,
    ),
    layout=(LINKS, REPEATS),
)  # fmt: skip
