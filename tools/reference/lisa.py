"""Convert CSVs of readings into `reference/*.csv`: `python -m ... READINGS_FOLDER`.

The readings hold what is known of the paper; this script is the only way from there into the
repository, so that no value is typed twice. Which status a row gets:

- Table 1 and Figures 2 to 4 are known from an early version alone, Figure 3 read off pixels with
  an error of 0.4 GB, Figure 4 with one of 0.02 s, Figure 2 off a logarithmic axis with one of 3 %:
  `early_version`;
- so are Table 6, whose K is called a frequency there, Tables 3 and 8 without coding, and in place
  of Table 9 a radar chart read with an error of 0.15;
- numbers that the running text of the proceedings prints are `exact`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from harness.errors import DataError
from tools.reference.converter import PAPERS, Files, Row, convert_readings, write_references

CAMERA_READY = "NeurIPS 2024 camera-ready"
EARLY = "an early arXiv version, before 2024-05-25"
READING_ERROR_GB = "0.4"
READING_ERROR_S = "0.02"
RATING_READING_ERROR = "0.15"
"""Scores of the radar chart, in points from 1 to 10."""
TUNED_BY = {"Vanilla": "vanilla", "FT": "full", "LoRA": "lora", "LISA": "lisa"}
"""Methods of MT-Bench's tables -> their names here."""
RATED = ("writing", "roleplay", "reasoning", "math", "extraction", "stem", "humanities")
"""Categories of the early version."""
NORM_READING_ERROR = 0.03
"""Relative."""
AXES = {"GPT2-Small": (("wte", "wpe"), 12), "LLaMA-2-7B": (("embed_tokens",), 32)}
"""Embeddings of Figure 2's models, and how many blocks come between them and the head."""
NORM_COLUMNS = {
    "full_parameter_norm": ("full", "weight_norm"),
    "lora_norm": ("lora", "adapter_norm"),
}
"""Column of the readings -> the method, and what is measured of a layer."""
TEXT_TASKS = {
    "memory": "tab01",
    "time": "fig04",
    "quality": "tab03",
    "ablation": "tab07",
    "continual pretraining": "tab04",
    "70B": "tab05",
}
"""Group of a number in the text -> the item it holds for."""


def main() -> None:
    """Write every reference file. Raises DataError for a file that is missing."""
    write_references(PAPERS / "lisa", __doc__.splitlines()[0], convert)


def convert(readings: Path) -> dict[str, str]:
    """Return the reference files by name, as CSV text. Raises DataError for a file that is
    missing, and for a group of numbers whose item is not known here."""
    return convert_readings(readings, FILES, plain_source=_source)


def _source(text: str) -> str:
    """Return where a value stands, without how it came to be read there."""
    if text.startswith("early arXiv version"):
        return "screenshot of an early arXiv version"
    if text.startswith("NeurIPS camera-ready text"):
        return "machine-read text of the proceedings PDF"
    return text


def peaks(rows: list[Row]) -> Iterator[Row]:
    """Yield Table 1's cells; a model that ran out of memory has no number."""
    for row in rows:
        yield {
            "task": "tab01",
            "series": row["model"],
            "y_name": row["config"],
            "value": row["peak_gpu_memory"],
            "unit": "GB",
            "status": "early_version",
            "version": EARLY,
            "source": "; ".join(filter(None, [row["source"], row["note"]])),
        }


def breakdown(rows: list[Row]) -> Iterator[Row]:
    """Yield Figure 3's bars, component by component."""
    for row in rows:
        yield {
            "task": "fig03",
            "series": row["method"],
            "y_name": row["component"],
            "value": row["value"],
            "unit": row["unit"],
            "abs_err": READING_ERROR_GB,
            "status": "early_version",
            "version": EARLY,
            "source": "; ".join(filter(None, [row["source"], row["note"]])),
        }


def iteration_times(rows: list[Row]) -> Iterator[Row]:
    """Yield Figure 4's bars in seconds, read off pixels, and the speed-ups printed in them."""
    for row in rows:
        for phase in ("forward", "backward", "total"):
            yield _iteration(row, phase, row[f"{phase}_s"], "s", READING_ERROR_S)
        yield _iteration(row, "printed speed-up", row["printed_speedup"], "x", "")


def _iteration(row: Row, y_name: str, value: str, unit: str, abs_err: str) -> Row:
    return {
        "task": "fig04",
        "series": row["method"],
        "y_name": y_name,
        "value": value,
        "unit": unit,
        "abs_err": abs_err,
        "status": "early_version",
        "version": EARLY,
        "source": row["source"],
    }


def norms(rows: list[Row]) -> Iterator[Row]:
    """Yield Figure 2's points, each layer at its place on the axis."""
    for row in rows:
        place = _place(row["model"], row["layer"])
        for column, (method, quantity) in NORM_COLUMNS.items():
            yield {
                "task": "fig02",
                "series": f"{row['model'].lower()} {method}",
                "x_name": "place",
                "x": str(place),
                "y_name": quantity,
                "value": row[column],
                "abs_err": f"{NORM_READING_ERROR * float(row[column]):.3g}",
                "status": "early_version",
                "version": EARLY,
                "source": f"{row['source']}; layer {row['layer']}",
            }


def _place(model: str, layer: str) -> int:
    """Return where a layer stands on the axis, from 0.

    >>> [_place("GPT2-Small", layer) for layer in ("wte", "wpe", "h.0", "lm_head")]
    [0, 1, 2, 14]
    """
    embeddings, num_blocks = AXES[model]
    if layer in embeddings:
        return embeddings.index(layer)
    number = num_blocks if layer == "lm_head" else int(layer.rpartition(".")[2])
    return len(embeddings) + number


def averages(rows: list[Row]) -> Iterator[Row]:
    """Yield Table 3's cells."""
    for row in rows:
        yield _rating(row, "tab03", "avg")


def categories(rows: list[Row]) -> Iterator[Row]:
    """Yield Table 8's cells, row by row."""
    for row in rows:
        yield from (_rating(row, "tab08", name, category=name) for name in RATED)


def radar(rows: list[Row]) -> Iterator[Row]:
    """Yield the corners of the radar chart, method by method."""
    for row in rows:
        for name in RATED:
            cell = _rating(row, "tab09", name, category=name)
            source = f"{cell['source']}; read off a radar chart"
            yield {**cell, "abs_err": RATING_READING_ERROR, "source": source}


def _rating(row: Row, task: str, column: str, *, category: str = "") -> Row:
    words = [row["model"].lower(), TUNED_BY[row["method"]], category]
    return {
        "task": task,
        "series": " ".join(filter(None, words)),
        "y_name": "mean_rating",
        "value": row[column],
        "unit": "points",
        "status": "early_version",
        "version": EARLY,
        "source": f"{row['source']}; seven categories, without coding",
    }


def ablation(rows: list[Row]) -> Iterator[Row]:
    """Yield Table 6's cells."""
    for row in rows:
        yield {
            "task": "tab06",
            "series": f"{row['model'].lower()} gamma={row['gamma_layers']}",
            "x_name": "period",
            "x": row["K"],
            "y_name": "mean_rating",
            "value": row["mtbench"],
            "unit": "points",
            "status": "early_version",
            "version": EARLY,
            "source": f"{row['source']}; K is called a frequency",
        }


def text(rows: list[Row]) -> Iterator[Row]:
    """Yield numbers of the running text; remarks of third parties are left out."""
    for row in rows:
        if row["group"] not in TEXT_TASKS:
            raise DataError(f"a number of the group {row['group']!r} has no item: add it")
        if row["source"].startswith("third-party"):
            continue
        yield {
            "task": TEXT_TASKS[row["group"]],
            "series": row["group"],
            "y_name": row["claim"],
            "value": row["value"],
            "unit": row["unit"],
            "status": "exact",
            "version": CAMERA_READY,
            "source": row["source"],
        }


SUFFIXES = {"K": 3, "M": 6, "B": 9}


def sizes(rows: list[Row]) -> Iterator[Row]:
    """Yield Table 15's numbers; one written with a suffix was rounded to its last digit."""
    for row in rows:
        value, abs_err = written_out(row["value"])
        yield {
            "task": "tab15",
            "series": row["dataset"],
            "y_name": row["what"],
            "value": value,
            "unit": row["what"],
            "abs_err": abs_err,
            "status": "exact",
            "version": CAMERA_READY,
            "source": row["source"],
        }


def written_out(text: str) -> tuple[str, str]:
    """Return a number with its suffix written out, and half of its last digit.

    >>> written_out("211.3K"), written_out("52k"), written_out("1319")
    (('211300', '50'), ('52000', '500'), ('1319', ''))
    """
    power = SUFFIXES.get(text[-1].upper(), 0)
    if not power:
        return text, ""
    digits = text[:-1]
    last = power - len(digits.partition(".")[2])
    return f"{float(digits) * 10**power:.0f}", f"{10**last // 2}"


FILES: Files = {
    "table1_peak_memory.csv": ("table1_peak_memory.csv", peaks),
    "fig2_weight_norm_gpt2.csv": ("fig2_weight_norm_gpt2.csv", norms),
    "fig2_weight_norm_llama2_7b.csv": ("fig2_weight_norm_llama2_7b.csv", norms),
    "fig3_memory_breakdown.csv": ("fig3_memory_breakdown.csv", breakdown),
    "fig4_iteration_time.csv": ("fig4_iteration_time.csv", iteration_times),
    "table3_mt_bench.csv": ("mtbench_categories_early_version.csv", averages),
    "table6_gamma_and_period.csv": ("table6_gamma_K_early_version.csv", ablation),
    "table8_mt_bench_by_category.csv": ("mtbench_categories_early_version.csv", categories),
    "table9_mt_bench_70b.csv": ("mtbench_radar_llama2_70b_early_version.csv", radar),
    "text_numbers.csv": ("text_claims.csv", text),
    "table15_datasets.csv": ("datasets_camera_ready.csv", sizes),
}


if __name__ == "__main__":
    main()
