"""Estimate the memory of fine-tuning a model, by method; nothing is allocated.

python -m reproductions.lisa llama-2-7b --seq-len 512 --gamma 2 --rank 128
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from rich.table import Table

from harness.outgoing import guard_streams
from harness.terminal import exit_on_error, print_table
from reproductions.lisa.models.steps.memory import Workload, load_config, methods_of, table

ASSUMED = (
    "Eager attention, no checkpointing; LoRA on all linear layers, embedding and head; AdamW in the"
    " weights' dtype. A sum of tensors: the peak may be some per cent higher or lower."
)
WIDTH = 120
"""Columns of a table that is written to a file or pipe."""
app = typer.Typer(add_completion=False)


@app.command(help="Estimate the memory of fine-tuning a model, by method; nothing is allocated.")
def main(
    config: Annotated[
        str, typer.Argument(help="A folder, a file, a hub id (OWNER/NAME), or one of our shapes.")
    ],
    seq_len: Annotated[int, typer.Option(help="Tokens per sequence.")] = 512,
    batch_size: Annotated[int, typer.Option(help="Sequences per step.")] = 1,
    dtype: Annotated[str, typer.Option(help="bfloat16 or float32, for moments too.")] = "bfloat16",
    gamma: Annotated[
        list[int] | None, typer.Option(min=0, help="Blocks that LISA trains at once; repeatable.")
    ] = None,
    rank: Annotated[list[int] | None, typer.Option(help="LoRA's rank; repeatable.")] = None,
    dropout: Annotated[float, typer.Option(help="Dropout of LoRA's adapters.")] = 0.0,
    as_json: Annotated[bool, typer.Option("--json", help="Rows as JSON.")] = False,
) -> None:
    """Print a table of bytes by method."""
    gammas, ranks = gamma or (0, 2, 4), rank or (128,)
    with exit_on_error():
        # What is wrong with an option is told before a hub is asked.
        workload = Workload(seq_len=seq_len, batch_size=batch_size, dtype=dtype)
        methods_of(max(gammas), gammas=gammas, ranks=ranks, dropout=dropout)
        rows = table(load_config(config), workload, gammas=gammas, ranks=ranks, dropout=dropout)
    if as_json:
        typer.echo(json.dumps(rows))
        return
    print_table(shown(rows), ASSUMED, width=WIDTH)


def shown(rows: Sequence[dict[str, Any]]) -> Table:
    """Return rows in units of 10^9 or 10^6 bytes; the sum in GiB too, as GPUs are sold."""
    unit, size = ("GB", 1e9) if rows[0]["total"] >= 1e9 else ("MB", 1e6)
    found = Table(box=None, pad_edge=False)
    found.add_column("method", no_wrap=True)
    parts = (f"{part} {unit}" for part in ("weights", "gradients", "moments", "saved", "sum"))
    for head in ("trainable", *parts, "sum GiB"):
        found.add_column(head, justify="right")
    for row in rows:
        held = [row["parameters"] + row["buffers"], row["gradients"], row["optimizer"]]
        cells = [f"{part / size:.2f}" for part in (*held, row["saved"], row["total"])]
        gib = f"{row['total'] / 2**30:.2f}"
        found.add_row(row["method"], f"{row['num_trainable']:,}", *cells, gib)
    return found


if __name__ == "__main__":
    guard_streams()
    app()
