"""Rank strategies for a cluster; list who has which; run a script on slow links.

python -m reproductions.paro plan --gpus 32 --group-size 8 --inter-gbit 80 --intra-gbit 2000 \\
    --model llama-7b --accumulation 10 --memory-gib 80
python -m reproductions.paro peers
python -m reproductions.paro testbed --groups 2 --ranks-per-group 2 --inter-mbit 200 -- train.py
"""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from dataclasses import asdict, replace
from math import inf
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from harness.errors import UsageError
from harness.outgoing import ReaderGone, guard_streams
from harness.terminal import exit_on_error, print_table
from reproductions.paro.method.cluster import Cluster, Nic, Workload
from reproductions.paro.method.models import Model, load_model
from reproductions.paro.method.peers import ALIASES, SETTINGS, Setting, asked
from reproductions.paro.method.planning import Plan, make_plan
from reproductions.paro.method.reasons import gb, reasons
from reproductions.paro.method.step_time import Assembly, TimeModel, World
from reproductions.paro.method.testbed.network import UNSHAPED_GBIT

ASSUMED = (
    "GB are 10^9 bytes. Memory: parameters, gradients, optimizer states (2, 2, 12 bytes each); no"
    " activations. T: communication by bandwidth alone, without latency. between: GB out of a"
    " group per step; within: GB from a GPU to its group. *: on the Pareto front of memory and T,"
    " fitting or not. -: does not fit. +I, +N, +G: parameters are also held split so. every:"
    " gradients are all-reduced between groups in every micro-batch. nearly: of the same letters,"
    " but holds or sends more."
)
WIDTH = 120
"""Columns of a table that is written to a file or pipe."""
app = typer.Typer(add_completion=False, no_args_is_help=True)


@app.callback()
def main() -> None:
    """PaRO's guideline: how to split what training holds over GPUs."""


Gpus = Annotated[int, typer.Option("--gpus", "-n", help="GPUs in all, n.")]
GroupSize = Annotated[
    int, typer.Option("--group-size", "-m", help="GPUs per machine, or under one switch, m.")
]
Inter = Annotated[float, typer.Option(help="B, Gbit/s between groups.")]
Intra = Annotated[float, typer.Option(help="B', Gbit/s between GPUs of a group.")]
NicOption = Annotated[
    Nic, typer.Option(help="rail: every GPU has B to itself; shared: a group shares it.")
]
ModelOption = Annotated[
    str, typer.Option(help="llama-7b, -13b, -30b, -65b, or a folder with a config.json.")
]
NumParams = Annotated[float, typer.Option(help="Number of parameters, instead of a model.")]
Share = Annotated[float, typer.Option(help="Share of the parameters that trains.")]
Rank = Annotated[int, typer.Option(help="Rank of LoRA on every linear layer; 0: no LoRA.")]
Accumulation = Annotated[
    int, typer.Option("--accumulation", "-s", help="Micro-batches per optimizer step, s.")
]
Gib = Annotated[float, typer.Option(help="Memory of a GPU in GiB (2^30).")]
Gb = Annotated[float, typer.Option(help="The same in GB (10^9); 0: no limit.")]
Reserved = Annotated[float, typer.Option(help="GB of that kept free for activations and the like.")]
MicroBatch = Annotated[
    float, typer.Option(help="Seconds of computation per micro-batch, both passes.")
]
WorldOption = Annotated[
    World, typer.Option(help="All GPUs send by one ring; by PaRO-CC; by a ring x factor.")
]
Factor = Annotated[float, typer.Option(help="The factor of scaled; in the paper 0.60 to 0.75.")]
AssemblyOption = Annotated[
    Assembly, typer.Option(help="T: communication alone; the larger of it and computation; both.")
]
Strategies = Annotated[
    list[str] | None,
    typer.Option(help="Letters, or names that `peers` lists, with commas; default: all."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Rows and reasons as JSON.")]
Plot = Annotated[
    Path | None, typer.Option(help="Draw memory against throughput: .png, .svg, .pdf.")
]


@app.command()
def plan(
    gpus: Gpus,
    group_size: GroupSize,
    inter_gbit: Inter,
    intra_gbit: Intra,
    nic: NicOption = "rail",
    model: ModelOption = "",
    num_params: NumParams = 0.0,
    trainable_share: Share = 1.0,
    lora_rank: Rank = 0,
    accumulation: Accumulation = 1,
    memory_gib: Gib = 0.0,
    memory_gb: Gb = 0.0,
    reserved_gb: Reserved = 0.0,
    micro_batch_s: MicroBatch = 0.0,
    world: WorldOption = "flat",
    cc_factor: Factor = 1.0,
    assembly: AssemblyOption = "max",
    strategies: Strategies = None,
    as_json: AsJson = False,
    plot: Plot = None,
) -> None:
    """Rank strategies by the time of an optimizer step, and say why."""
    with exit_on_error():
        cluster = Cluster(num_gpus=gpus, group_size=group_size, nic=nic,
                          inter_gbit_per_s=inter_gbit, intra_gbit_per_s=intra_gbit)  # fmt: skip
        time = TimeModel(world=world, cc_factor=cc_factor, assembly=assembly)
        memory = memory_of_states(memory_gib, memory_gb, reserved_gb)
        candidates = [asked(name) for text in strategies or () for name in names_in(text)]
        # What is wrong with these is told before a config is read.
        found, workload = workload_of(model, num_params, trainable_share, lora_rank, accumulation)
        made = make_plan(workload, cluster, time, memory_bytes=memory, candidates=candidates,
                         compute_s=accumulation * micro_batch_s)  # fmt: skip
        if plot is not None:
            draw(made, plot)
        answer(made, found, as_json=as_json)
        sys.stdout.flush()  # what cannot be written is told here, not when the interpreter ends


def names_in(text: str) -> list[str]:
    """Return names between commas. Raises UsageError where one has none beside it."""
    names = [name.strip() for name in text.split(",")]
    if not all(names):
        raise UsageError(f"--strategies {text!r}: no name before or after a comma")
    return names


def draw(made: Plan, file: Path) -> None:
    """Draw a plan; what draws is imported here alone."""
    from reproductions.paro.method.plan_plot import draw_plan

    draw_plan(made, file)


def answer(made: Plan, model: Model | None, *, as_json: bool) -> None:
    """Print a plan and its reasons."""
    told = [*reasons(made), *transient(model, made)]
    if as_json:
        found = {"asked": asked_for(made, model), "rows": made.rows(), "reason": told,
                 "assumed": ASSUMED}  # fmt: skip
        typer.echo(json.dumps(found, allow_nan=False))
        return
    print_table(shown(made), headline(made, model), *told, "", ASSUMED, width=WIDTH)


def asked_for(made: Plan, model: Model | None) -> dict[str, Any]:
    """Return what a plan is about, as plain values; no limit of memory is None."""
    workload = made.workload
    return {
        **asdict(made.cluster),
        "model": model.name if model else None,
        "num_params": workload.num_params,
        "num_trainable": workload.num_trainable,
        "accumulation": workload.accumulation,
        **asdict(made.model),
        "memory_bytes": made.memory_bytes if made.memory_bytes < inf else None,
        "compute_s": made.compute_s,
    }


def memory_of_states(gib: float, gb: float, reserved_gb: float) -> float:
    """Return the bytes that a GPU has for states; infinitely many where no limit is given."""
    if gib and gb:
        raise UsageError("--memory-gib and --memory-gb: name one of them")
    size = gib * 2**30 or gb * 1e9
    if not 0.0 <= size < inf or not 0.0 <= reserved_gb < inf:
        raise UsageError("memory and what is reserved of it: finite numbers, at least 0")
    if not size:
        if reserved_gb:
            raise UsageError("--reserved-gb without the memory that it is taken from")
        return inf
    if reserved_gb * 1e9 >= size:
        raise UsageError(f"--reserved-gb {reserved_gb:g} leaves nothing of {size / 1e9:g} GB")
    return size - reserved_gb * 1e9


def workload_of(
    model: str, num_params: float, trainable_share: float, lora_rank: int, accumulation: int
) -> tuple[Model | None, Workload]:
    """Return the model, where one is named, and what is trained of it."""
    if bool(model) == bool(num_params):
        raise UsageError("name --model, or --num-params in its place")
    if lora_rank and (not model or trainable_share != 1.0):
        raise UsageError("--lora-rank needs a --model, and no --trainable-share")
    # What is wrong with these is told before a config is read.
    plain = Workload(
        num_params=num_params or 1.0, trainable_share=trainable_share, accumulation=accumulation
    )
    if not model:
        return None, plain
    found = load_model(model)
    if not lora_rank:
        return found, replace(plain, num_params=float(found.num_params))
    adapters = found.lora_params(lora_rank)
    total = found.num_params + adapters
    return found, replace(plain, num_params=float(total), trainable_share=adapters / total)


def headline(made: Plan, model: Model | None) -> str:
    """Return what was asked, in a line."""
    cluster, workload = made.cluster, made.workload
    name = f"{model.name}, " if model else ""
    shared = " shared by a group" if cluster.nic == "shared" else ""
    memory = f"; {gb(made.memory_bytes)} for states" if made.memory_bytes < inf else ""
    return (
        f"n={cluster.num_gpus}, m={cluster.group_size}, B={cluster.inter_gbit_per_s:g}{shared},"
        f" B'={cluster.intra_gbit_per_s:g} Gbit/s; {name}{workload.num_params:,.0f} parameters,"
        f" {workload.num_trainable:,.0f} trained; s={workload.accumulation};"
        f" {made.model.world}, {made.model.assembly}{memory}.\n"
    )


def transient(model: Model | None, made: Plan) -> list[str]:
    """Return what comes and goes beside the states, where the model is known."""
    if model is None:
        return []
    size = model.transient_bytes(made.workload.param_bytes)
    return [
        f"Where parameters are split, gathered units come and go beside: two of the largest"
        f" ({model.largest_unit:,} parameters) take {gb(size)}."
    ]


def shown(made: Plan) -> Table:
    """Return candidates as a table: those that fit by rank, the others below."""
    found = Table(box=None, pad_edge=False)
    found.add_column("", justify="right")
    found.add_column("strategy", no_wrap=True)
    # What is sent is seen in T, unless computation is in it.
    comm = ("comm s",) if made.compute_s and made.model.assembly != "comm" else ()
    for head in ("params", "grads", "states", "GB", "T s", *comm, "1/T", "between", "within"):
        found.add_column(head, justify="right", no_wrap=True)
    found.add_column("")
    found.add_column("who has it")
    for entry, row in zip(made.entries, made.rows(), strict=True):
        sizes = (row["params_bytes"] + row["second_params_bytes"], row["grads_bytes"],
                 row["states_bytes"], row["total_bytes"])  # fmt: skip
        speed = row["steps_per_s"]
        who = "; nearly ".join(filter(None, (row["systems"] or "none", row["nearly"])))
        found.add_row(
            str(row["rank"] or "-"),
            entry.head,
            *map(in_gb, sizes),
            f"{row['step_s']:.3g}",
            *(f"{row['comm_s']:.3g}" for _ in comm),
            "-" if speed is None else f"{speed:.3g}",
            *(in_gb(row[name]) for name in ("between_bytes", "within_bytes")),
            "*" if row["front"] else "",
            who,
        )
    return found


def in_gb(size: float) -> str:
    """Return bytes in GB, with a digit after the point where that says something.

    >>> in_gb(1.371e12), in_gb(4e6), in_gb(0.0), in_gb(2e18)
    ('1,371.0', '0.004', '0.0', '2e+09')
    """
    value = size / 1e9
    return f"{value:,.1f}" if value == 0.0 or 0.1 <= value < 1e6 else f"{value:.2g}"


@app.command()
def peers(
    as_json: Annotated[bool, typer.Option("--json", help="Rows as JSON.")] = False,
) -> None:
    """List settings of known systems, the strategy that each one is, and how to write it."""
    rows = [setting_row(each) for each in SETTINGS]
    with exit_on_error():
        if as_json:
            typer.echo(json.dumps(rows))
        else:
            print_table(shown_settings(rows), MEANT, width=WIDTH)
        sys.stdout.flush()


def shown_settings(rows: list[dict[str, Any]]) -> Table:
    """Return settings as a table."""
    found = Table(box=None, pad_edge=False)
    for head in ("name", "system", "strategy"):
        found.add_column(head, no_wrap=True)
    found.add_column("what a user writes")
    for row in rows:
        told = row["written"] + (f" [{row['differs']}]" if row["differs"] else "")
        nearest = "" if row["strategy"][:3] == row["nearest"] else f", nearly {row['nearest']}"
        found.add_row(row["name"], row["system"], row["strategy"] + nearest, told)
    return found


MEANT = (
    "<n>: GPUs; <m>: GPUs per group; <g>: groups; last: whether a micro-batch is its step's last;"
    " [how it differs from the strategy]. Evidence for each: --json, and paro/abl_peers."
    f" Other names: {', '.join(f'{name} for {own}' for name, own in ALIASES.items())}."
)


def setting_row(each: Setting) -> dict[str, Any]:
    """Return a setting as plain values."""
    return {
        "name": each.name,
        "system": each.system,
        "strategy": str(each.strategy),
        "nearest": each.nearest,
        "every": each.sync_every_micro_batch,
        "keeps": each.keeps_part,
        "exact": each.is_exact,
        "written": each.written,
        "differs": each.differs,
        "evidence": each.evidence,
    }


@app.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
def testbed(
    script: Annotated[list[str], typer.Argument(help="A script and its arguments, after --.")],
    groups: Annotated[int, typer.Option(help="Groups, g.")],
    ranks_per_group: Annotated[int, typer.Option(help="Ranks of gloo in each, m.")],
    inter_mbit: Annotated[float, typer.Option(help="B, Mbit/s between groups.")],
    intra_mbit: Annotated[
        float, typer.Option(help="B', Mbit/s between ranks of a group; as given: not slowed.")
    ] = 1e3 * UNSHAPED_GBIT,
    nic: NicOption = "shared",
    deadline_s: Annotated[float, typer.Option(help="Stop everything after so many seconds.")] = inf,
) -> None:
    """Run a script on ranks with slowed links, as torchrun would (Linux only)."""
    with exit_on_error():
        cluster = Cluster(num_gpus=groups * ranks_per_group, group_size=ranks_per_group, nic=nic,
                          inter_gbit_per_s=inter_mbit / 1e3,
                          intra_gbit_per_s=intra_mbit / 1e3)  # fmt: skip
        from reproductions.paro.method.testbed.launch import run_script

        run_script(script, cluster, deadline_s=deadline_s)


if __name__ == "__main__":
    guard_streams()
    with suppress(ReaderGone):  # head and less may have seen enough
        app()
