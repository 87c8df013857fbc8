"""Whether models know what they were trained on, and learned weights help them to read."""

from __future__ import annotations

from harness.declare import Cell, Layout, Line, Table, Task, columns_of, param, value
from reproductions.fg2u.adaptation.pilot_experiment import Stream, streams

READ: Table = Table.of(
    param("streams", str, "shorter: as Table 2's, whose validation stream is half as long as its"
          " test stream; longer: both of equal length."),
    param("weighing", str, "equal weights of tokens, or learned by RGU."),
    param("eval_model", str, "Model that reads."),
    columns_of(Stream, "num_read", "seed"),
    value("known_em", float, "Share of exact answers about documents it was trained on."),
    value("em", float, "Share of exact answers after reading."),
    value("f1_before", float, "Token F1 of the answers before."),
    value("f1", float, "Token F1 of the answers after reading."),
    value("qa_loss_before", float, "Nats per token of the right answers before."),
    value("qa_loss_after", float, "Nats per token of the right answers after."),
    value("validation_loss", float, "The same on the validation stream."),
    value("stream_lr", float, "Step size of Adam, chosen there."),
    value("lr_at_edge", bool, "Whether that is an end of its candidates."),
    value("value_auc", float, "Share of pairs in which a token of an answer outweighs another."),
    make=lambda tables: tables[streams.id].reindex(columns=READ.names),
)  # fmt: skip
TAUGHT = Layout(
    rows=tuple(
        Line(
            f"{weighing} weights",
            group=f"{model} model, {length} streams",
            where={"streams": length, "eval_model": model, "weighing": weighing},
        )
        for length in ("shorter", "longer")
        for model in ("small", "large")
        for weighing in ("equal", "learned")
    ),
    columns=(
        Line("known, exact", cell=Cell("known_em", unit="%", scale=0.01)),
        Line("F1 before", cell=Cell("f1_before", unit="%", scale=0.01)),
        Line("F1 after", cell=Cell("f1", unit="%", scale=0.01)),
        Line("loss before", cell=Cell("qa_loss_before", unit="nats", digits=3)),
        Line("loss after", cell=Cell("qa_loss_after", unit="nats", digits=3)),
        Line("validation loss", cell=Cell("validation_loss", unit="nats", digits=3)),
    ),
    title="What a model knows of a stream before and after it reads it",
)
task = Task(
    "fg2u/pilot_streams",
    reads=(streams,),
    table=READ,
    layout=TAUGHT,
    own_kind="ablation",
)
