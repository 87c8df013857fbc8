"""Convert CSVs of readings into `reference/*.csv`: `python -m ... READINGS_FOLDER`.

The readings hold what the paper states in words and numbers; this script is the only way from
there into the repository, so that no value is typed twice. Which status a row gets:

- settings, and numbers that the text prints, are `exact`: the digits are the paper's, also where
  it says "approximately" or gives a bound, which the row's name then tells;
- a number that stands for words ("approximately equal") is `derived`.

The curves and the body of Table 1 are pictures in every readable source: no rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from harness.errors import DataError
from tools.reference.converter import PAPERS, Files, Row, convert_readings, write_references

CAMERA_READY = "NeurIPS 2024 camera-ready"
FULL_TEXT = "PAPER full text (deep-diver/neurips2024 content_list.json)"
"""How the readings name the text of the proceedings PDF, body and appendices."""
PLAIN_SOURCE = "machine-read text of the proceedings PDF"
AREA_TASKS: dict[str, tuple[str, ...]] = {
    "valley": ("fig03",),
    "train": ("fig03",),
    "hyper": ("fig09",),
    "bn_init": ("fig07",),
    "interp": ("fig08",),
    "soup": ("fig11",),
    "fl": ("tab01",),
    "toy": ("fig29",),
}
"""Area of a setting -> the first item it holds for, where its key says no other."""
KEY_TASKS: dict[str, tuple[str, ...]] = {
    "s_values_fig3_fig5": ("fig03", "fig05"),
    "normalisation_default": ("fig02",),
    "normalisation_when_comparing_points": ("fig02", "fig07"),
    "special_directions": ("fig05",),
    "sign_change_ratio_grid": ("fig04",),
    "bn_statistics": ("bn_statistics",),
    "imagenet_eval_images": ("fig06", "fig20"),
    "imagenet_groups": ("fig06", "fig20"),
    "vit": ("fig15",),
    "relu_a": ("fig27",),
    "relu_N": ("fig27",),
    "relu_lambdas": ("fig27",),
    "activation_lambdas_compared": ("fig28",),
}
PROSE_NAMES = {
    "Fig 7": ("fig07", "bn_weight_centre_approximately", "ones", "exact"),
    "Fig 11": ("fig11", "same_sign_ratio_above", "pretrained", "exact"),
    "Fig 4": ("fig04", "difference_of_mean_errors_at_ratio_0", "", "derived"),
}
"""Figure of a number in prose -> (task, y_name, series, status)."""


def main() -> None:
    """Write every reference file. Raises DataError for a file that is missing."""
    write_references(PAPERS / "asymvalley", __doc__.splitlines()[0], convert)


def convert(readings: Path) -> dict[str, str]:
    """Return the reference files by name, as CSV text.

    Raises DataError for a file that is missing, and for a row whose item is not known here.
    """
    return convert_readings(readings, FILES, plain_source=_source)


def _source(text: str) -> str:
    """Return where a value stands, without how it came to be read there."""
    return text.replace(FULL_TEXT, PLAIN_SOURCE)


def settings(rows: list[Row]) -> Iterator[Row]:
    """Yield a row per stated setting and item it belongs to; the value is kept as written."""
    for row in rows:
        tasks = KEY_TASKS.get(row["key"], AREA_TASKS.get(row["area"]))
        if tasks is None:
            raise DataError(f"the setting {row['key']} has the area {row['area']!r}: add its items")
        for task in tasks:
            yield {
                "task": task,
                "series": row["area"],
                "y_name": row["key"],
                "value": row["value"],
                "status": "exact",
                "version": CAMERA_READY,
                "source": f"{row['source']}, {row['where']}",
            }


def prose(rows: list[Row]) -> Iterator[Row]:
    """Yield the few numbers of the running text, with the words they stand in."""
    for row in rows:
        if row["figure"] not in PROSE_NAMES:
            raise DataError(f"a number of {row['figure']} has no name here: add it to PROSE_NAMES")
        task, y_name, series, status = PROSE_NAMES[row["figure"]]
        yield {
            "task": task,
            "series": series,
            "y_name": y_name,
            "value": row["value"],
            "status": status,
            "version": CAMERA_READY,
            "source": f"{row['source']}, {row['where']}; {row['kind']}: {row['quantity']}",
        }


FILES: Files = {
    "settings.csv": ("settings.csv", settings),
    "text_numbers.csv": ("reference_numbers.csv", prose),
}


if __name__ == "__main__":
    main()
