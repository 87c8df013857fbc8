"""Convert CSVs of readings into `reference/*.csv`: `python -m ... READINGS_FOLDER`.

The paper's tables and figures are pictures in every readable source, so that of their numbers only
those are known that the running text quotes. Which status a row gets:

- a number of the camera-ready's text is `exact`;
- one of a preprint's abstract is `early_version`, with the version that has it;
- marks of Table 1 are `derived`: they follow from the rule in the text.

What the text says in words alone (a recommendation, what fits) is no row. Whether the authors'
released code takes a strategy is `derived` too: it is read off the code, not off the paper.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

from harness.errors import DataError
from tools.reference.converter import PAPERS, Files, Row, convert_readings, write_references

CAMERA_READY = "NeurIPS 2024"
PLAIN_SOURCE = "machine-read text of the proceedings PDF"
ITEMS = {
    "7B full": ("tab11", "fig03"),
    "65B full": ("tab11", "fig03"),
    "7B 1/16": ("tab12", "fig03"),
    "65B 1/16": ("tab12", "fig03"),
    "65B PEFT": ("tab13", "fig04"),
    "scaling": ("fig06",),
    "PaRO-CC all-gather": ("fig05",),
    "PaRO-CC": ("fig05",),
    "Megatron-TP": ("headline",),
}
"""Scenario of a number in the text -> the items it belongs to."""
EBS_ITEMS = {"LLaMA-7B": ("tab14",), "LLaMA-65B": ("tab15",)}
UNITS = {"percent improvement": "%", "ratio": "ratio", "samples/s": "samples/s"}
RELEASED = "released code (DeepSpeed pull request 5588)"


def main() -> None:
    """Write every reference file. Raises DataError for a file that is missing."""
    write_references(PAPERS / "paro", __doc__.splitlines()[0], convert)


def convert(readings: Path) -> dict[str, str]:
    """Return the reference files by name, as CSV text.

    Raises DataError for a file that is missing, and for a scenario whose item is not known here.
    """
    return convert_readings(readings, FILES, plain_source=_source)


def _source(text: str) -> str:
    """Return where a value stands, without how it came to be read there."""
    return text.replace("NeurIPS 2024 paper text", PLAIN_SOURCE)


def in_text(rows: list[Row]) -> Iterator[Row]:
    """Yield a row per number of the text and item it belongs to; none for words alone."""
    for row in rows:
        if not row["value"]:
            continue
        unit = UNITS.get(row["unit"].split(" (")[0].split(" at ")[0], "")
        for item in _items(row):
            yield {
                "task": item,
                "series": _series(row),
                **_share(row["trainable_ratio"]),
                "y_name": _name(row),
                "value": row["value"],
                "unit": unit,
                "status": "exact",
                "version": CAMERA_READY,
                "source": f"section {row['section']}, {row['source']}",
            }


def _items(row: Row) -> tuple[str, ...]:
    items = ITEMS.get(row["scenario"])
    if row["scenario"] == "dynamic EBS":
        items = EBS_ITEMS.get(row["model"])
    if items is None:
        raise DataError(
            f"no item of the paper for the reading {row['scenario']!r} of {row['model']!r}: name"
            " it in ITEMS"
        )
    return items


def _share(text: str) -> Row:
    """Return a trainable share as an x: `1/16` as 0.0625."""
    return {"x_name": "trainable_share", "x": f"{float(Fraction(text)):g}"} if text else {}


def _series(row: Row) -> str:
    """Return model and strategy, as layouts name lines: `LLaMA-7B IIG`."""
    model = "" if row["scenario"] == "scaling" else row["model"]
    return f"{model} {row['strategy'].replace(' + ', '+')}".strip()


def _name(row: Row) -> str:
    """Return a metric as one word, with the baseline of a gain."""
    metric = row["metric"].replace(",", "").replace("-", "_").replace(" ", "_")
    is_gain = "gain" in metric
    return f"{metric}_over_{row['baseline']}" if is_gain else metric


def headlines(rows: list[Row]) -> Iterator[Row]:
    """Yield the headline, and what preprints have in its place, each under its version.

    What else the camera-ready's abstract says is among the numbers of the text.
    """
    for row in rows:
        version = row["paper_version"]
        if version == CAMERA_READY and "ZeRO" not in row["quantity"]:
            continue
        yield {
            "task": "fig05" if "Ring" in row["quantity"] else "headline",
            # Several versions stand side by side.
            "series": f"{version}: {row['scope']}",
            "y_name": row["quantity"],
            "value": row["value"],
            "unit": "ratio" if row["unit"] == "ratio" else "%",
            "status": "exact" if version == CAMERA_READY else "early_version",
            "version": version,
            "source": row["source"].replace("paper ", ""),
        }


def strategies(rows: list[Row]) -> Iterator[Row]:
    """Yield Table 1's mark of each strategy, and how many are kept, which the text states."""
    for row in rows:
        yield {
            "task": "tab01",
            "series": row["strategy"],
            "y_name": "effective",
            "value": str(int(row["status"] == "effective")),
            "status": "derived",
            "version": CAMERA_READY,
            "source": "the rule of section 3.1.1; Table 1 itself is a picture",
        }
    for status, number in Counter(row["status"] for row in rows).items():
        yield {
            "task": "tab01",
            "y_name": f"num_{status}",
            "value": str(number),
            "status": "exact",
            "version": CAMERA_READY,
            "source": f"section 3.1.1, {PLAIN_SOURCE}",
        }


def released(rows: list[Row]) -> Iterator[Row]:
    """Yield the strategies that the authors' released code accepts."""
    for row in rows:
        yield {
            "task": "tab01",
            "series": row["strategy"],
            "y_name": "in_released_code",
            "value": str(int(row["accepted_by_config"] == "yes")),
            "status": "derived",
            "version": RELEASED,
            "source": row["source"],
        }


FILES: Files = {
    "text_numbers.csv": ("reported_results_in_text.csv", in_text),
    "headline.csv": ("headline_claims.csv", headlines),
    "tab01_rule.csv": ("strategies_27.csv", strategies),
    "tab01_released_code.csv": ("strategies_in_released_code.csv", released),
}

if __name__ == "__main__":
    main()
