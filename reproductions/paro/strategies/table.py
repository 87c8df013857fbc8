"""The table of strategies: what the rule says of each, and what each costs."""

from __future__ import annotations

from harness.declare import Cell, Frame, Layout, Line, Table, Tables, param, value
from reproductions.paro.method.strategy import ALL
from reproductions.paro.strategies.experiment import KNOWN_AS, costs, sweeps


def all_rows(tables: Tables) -> Frame:
    """Return the rows of both experiments, one above the other."""
    import pandas as pd

    parts = [tables[sweeps.id].assign(part="sweep", model="", trainable_share=0.0)]
    if len(tables.get(costs.id, ())):
        parts.append(tables[costs.id].assign(part="costs"))
    return pd.concat(parts, ignore_index=True).reindex(columns=STRATEGIES.names)


STRATEGIES = Table.of(
    param("part", str, "sweep: a few hundred settings. costs: one of the paper's inputs."),
    param("world", str, "Collectives of all GPUs. flat: one ring. hier: PaRO-CC in two steps."),
    param("model", str, "Model of the paper's inputs; none of the sweep."),
    param("trainable_share", float, "Psi' / Psi of the paper's inputs; 0 of the sweep."),
    param("strategy", str, "Parameters, gradients, optimizer states."),
    value("p", str, "Granularity of parameters."),
    value("g", str, "Granularity of gradients."),
    value("os", str, "Granularity of optimizer states."),
    value("effective", int, "Whether the paper's rule keeps it."),
    value("reason", str, "Why.", nullable=True),
    value("kept_instead", str, "The kept one with p and g alike.", nullable=True),
    value("known_as", str, "Name of a system that does it, as the paper has it.", nullable=True),
    value("in_released_code", int, "Whether the authors' release accepts it.", nullable=True),
    value("num_settings", int, "Settings of the sweep.", nullable=True),
    value(
        "num_on_front", int,
        "In how many no other of the 27 takes less time or memory and no more of the other.",
        nullable=True,
    ),
    value(
        "largest_saving", float,
        "Largest share of its communication time that the kept one takes more.", nullable=True,
    ),
    value("least_memory_ratio", float, "Least memory over the kept one's.", nullable=True),
    value("comm_s", float, "Communication of a step of s = 10, in seconds.", nullable=True),
    value("memory_bytes", float, "Parameters, gradients and states of a GPU.", nullable=True),
    make=all_rows,
)  # fmt: skip
FRONT = Cell("num_on_front", digits=0)
GROUPS = {True: "kept", False: "left out"}
LAYOUT = Layout(
    rows=tuple(
        Line(
            ", ".join(filter(None, (strategy.letters, KNOWN_AS.get(strategy.letters)))),
            group=GROUPS[strategy.is_effective],
            where={"strategy": strategy.letters},
            paper={"series": strategy.letters},
        )
        for strategy in sorted(ALL, key=lambda each: not each.is_effective)
    ),
    columns=(
        *(
            Line(name, where={"world": "flat"}, cell=Cell(name), shows="ours")
            for name in ("p", "g", "os")
        ),
        Line(
            "kept", where={"world": "flat"}, cell=Cell("effective", digits=0),
            paper={"y_name": "effective"},
        ),
        Line(
            "in released code", where={"world": "flat"}, cell=Cell("in_released_code", digits=0),
            paper={"y_name": "in_released_code"},
        ),
        *(
            Line(way, group="on the front", where={"world": world}, cell=FRONT, shows="ours")
            for world, way in (("flat", "one ring"), ("hier", "PaRO-CC"))
        ),
    ),
    where={"part": "sweep"},
    notes=(
        "The paper's own cells are not readable; marks follow from the rule of section 3.1.1, whose"
        " counts the text states. 1 is kept.",
        "On the front: in how many of 216 settings no other strategy takes less time with no"
        " more memory, or less memory in no more time. This column is ours.",
    ),
    inferred=True,
)  # fmt: skip
