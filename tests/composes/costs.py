"""What methods cost, out of committed results: baselines of the benchmarks, and counted memory."""

from __future__ import annotations

import csv
from collections.abc import Iterator

from tests.benchmarks.goals import load_baselines
from tests.checkout import ROOT

MEASURED = {
    "supar": {"masked_step": "a training step, with masks over without"},
    "asymvalley": {
        "valley_point": "a point of a curve, over two passes of the bare model",
        "federated_rounds": "a round of FedSign in Flower, over one here; grey images",
        "federated_rounds_colour": "the same; colour images",
    },
    "lisa": {
        "lisa_step": "a training step, over that of full training",
        "lisa_switch": "a switch of blocks, over the steps of its period",
    },
    "fg2u": {
        "fg2u_direction": "one direction, over an unroll without derivatives",
        "fg2u_chunk": "all directions at once, over one by one",
        "fg2u_workers": "an estimate by one process, over one by two",
        "fg2u_memory_depth": "memory of `fg2u`, over that of an eighth of the steps",
        "rgu_memory_depth": "memory of `rgu`, over that of an eighth of the steps",
        "mixflow_memory": "memory of `rgu`, over `rgu-mixflow`",
    },
    "paro": {
        "paro_step_nnn": "an optimizer step, NNN over DDP",
        "paro_step_ggg": "an optimizer step, GGG over FSDP2",
    },
}
"""By method and benchmark, what its number is."""
PARTS = ("weights", "gradients", "moments", "saved", "total")


def costs_block(name: str) -> str:
    """Return what a method costs as tables."""
    lines = list(benchmarks(name))
    if name == "lisa":
        lines += ["", *memory_of_lisa()]
    return "\n".join(lines)


def benchmarks(name: str) -> Iterator[str]:
    """Yield a table for each kind of machine that has measured any of it, with what commit."""
    several = False
    for baseline in load_baselines(ROOT):
        measured = {item.name: item for item in baseline.measured()}
        there = {each: what for each, what in MEASURED[name].items() if each in measured}
        if not there:
            continue
        if several:
            yield ""
        several = True
        yield f"| on {baseline.title} | times | setting | commit |"
        yield "| --- | --- | --- | --- |"
        for benchmark, what in there.items():
            found = measured[benchmark]
            assert found.goal.unit in ("ratio", "share"), benchmark
            yield f"| {what} | {found.measured:.3g} | {found.note} | {found.commit[:7]} |"


def memory_of_lisa() -> Iterator[str]:
    """Yield the parts of a step's memory on LLaMA-2-7B, by arithmetic: nothing was run."""
    yield "| LLaMA-2-7B, bfloat16, 512 tokens, by arithmetic, GB | " + " | ".join(PARTS) + " |"
    yield "| --- " * (len(PARTS) + 1) + "|"
    wanted = {("full", "0", "0"): "full training", ("lora", "128", "0"): "LoRA, rank 128",
              ("lisa", "0", "0"): "LISA, embeddings and head alone",
              ("lisa", "0", "2"): "LISA, two blocks",
              ("lisa", "0", "4"): "LISA, four blocks"}  # fmt: skip
    asked = ("step", "llama-2-7b", "arithmetic", "512", "0")
    with (ROOT / "results" / "lisa" / "tab01.cpu.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            kind = (row["method"], row["rank"], row["gamma"])
            told = tuple(row[name] for name in ("part", "shape", "how", "seq_len", "dropout"))
            if told == asked and kind in wanted:
                cells = [f"{int(row[f'{part}_bytes']) / 1e9:.1f}" for part in PARTS]
                yield f"| {wanted[kind]} | " + " | ".join(cells) + " |"
