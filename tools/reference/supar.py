"""Convert CSVs of readings into `reference/*.csv`: `python -m ... READINGS_FOLDER`.

The readings hold what was taken from the paper's tables, text and plots, one CSV each; this
script is the only way from there into the repository, so that no value is typed twice. Which
status a row gets:

- printed tables and numbers in the text are `exact`;
- readings of arXiv v1 images are `early_version`, also those whose axes equal the final
  figure's: whether the curves are the same is unverified;
- the plot shipped with the authors' code is `third_party`;
- the best loss of each read curve (for Figure 8) is `derived` from an early version.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from tools.reference.converter import PAPERS, Files, Row, convert_readings, write_references

CAMERA_READY = "NeurIPS 2024 camera-ready"
FIRST_VERSION = "arXiv v1"
SCHEMES = {"SP": "sp", "muP": "mup", "SmuPar": "supar", "random": "random"}
SUFFIXES = {"K": "e3", "M": "e6", "B": "e9"}
"""Printed suffix -> exponent; the digits stay those that are printed."""
SOURCE_WORDS = {
    " text (two stored text extractions of the proceedings PDF; agree)": "",
    "Table 1 (text extraction)": "Table 1",
    "Appendix E text": "appendix E",
    "pixel measurement by this project of": "read from the pixels of",
    "arXiv v1 abstract as quoted by several index pages": "as quoted by index pages",
}
"""Words of the readings' sources, and what stands for them here."""
TEXT_TASKS = {
    **dict.fromkeys(("c01", "c02", "c07", "c08", "c09", "c16"), "fig03"),
    **{"c03": "fig06", "c04": "fig08", "c05": "fig08", "c06": "fig11", "c10": "fig10"},
    **dict.fromkeys(("c11", "c12", "c13"), "fig12"),
    **dict.fromkeys(("c14", "c15"), "tab02"),
}
"""Which table or figure a number of the text belongs to."""
TEXT_NAMES = {
    "c01": ("mean_gap_at_lowest_density", "sp"),
    "c02": ("mean_gap_at_lowest_density", "mup"),
    "c04": ("mean_gap", "sp"),
    "c05": ("mean_gap", "mup"),
}
"""Numbers of the text that a claim compares with: (y_name, series)."""
FLOP_RATIO = "c10"
"""Its "2x" stands beside the settings of Figure 10, too."""


def main() -> None:
    """Write every reference file. Raises DataError for a file that is missing."""
    write_references(PAPERS / "supar", __doc__.splitlines()[0], convert)


def convert(readings: Path) -> dict[str, str]:
    """Return the reference files by name, as CSV text."""
    return convert_readings(readings, FILES, plain_source=_source)


def _source(text: str) -> str:
    """Return where a value stands, without how it came to be read there."""
    for words, plain in SOURCE_WORDS.items():
        text = text.replace(words, plain)
    return text


def _number(text: str) -> str:
    """Return a printed number as one that `float` reads, digit for digit, or the text.

    >>> _number("306M"), _number("1.62e-2"), _number("swept")
    ('306e6', '1.62e-2', 'swept')
    """
    match = re.fullmatch(r"([0-9.]+)([KMB])", text)
    return text if match is None else match[1] + SUFFIXES[match[2]]


def _exact(task: str, source: str, **fields: str) -> Row:
    return {"task": task, "status": "exact", "version": CAMERA_READY, "source": source, **fields}


def table_1(rows: list[Row]) -> Iterator[Row]:
    for row in rows:
        for column in ("SP", "muP", "SmuPar"):
            yield _exact(
                "tab01",
                row["source"],
                series=SCHEMES[column],
                y_name=row["quantity"],
                value=row[column],
            )


def table_2(rows: list[Row]) -> Iterator[Row]:
    for row in rows:
        sparsity = row["sparsity"]
        yield _exact(
            "tab02",
            row["source"],
            series=f"{SCHEMES[row['parameterization']]} {row['task']}",
            x_name="density" if sparsity else "",
            x=_density(sparsity) if sparsity else "",
            y_name="accuracy",
            value=row["accuracy"],
        )


def table_3(rows: list[Row]) -> Iterator[Row]:
    for row in rows:
        value = _number(row["value"])
        yield _exact("tab03", row["source"], y_name=row["name"], value=value)


def table_4(rows: list[Row]) -> Iterator[Row]:
    """Yield a row per printed row and setting, and per scheme and rung where the cell tells them
    apart; `fig01_06_08_14` is the row of four figures.

    The last two columns, the readings' own remark and the source, are no settings.
    """
    ladders = _ladders(rows)
    for row in rows:
        numbers = re.findall(r"\d+", row["figure"].split("(")[0])
        figures = "fig" + "_".join(f"{int(number):02d}" for number in numbers)
        for setting in list(row)[1:-2]:
            for scheme, cell in _by_scheme(row[setting]):
                for density, value in _by_rung(cell, ladders.get(row["d_model"], {})):
                    yield _exact(
                        "tab04",
                        row["source"],
                        series=f"{figures} {scheme}".rstrip(),
                        x_name="density" if density else "",
                        x=density,
                        y_name=setting,
                        value=_number(value),
                    )


def _ladders(rows: list[Row]) -> dict[str, dict[str, str]]:
    """Return density -> width by the cell that lists widths; one row's remark has the densities."""
    ladders = {}
    for row in rows:
        sparsities = re.search(r"sparsity ([0-9./]+)", row["note"])
        if sparsities is not None:
            densities = map(_density, sparsities[1].split("/"))
            ladders[row["d_model"]] = dict(zip(densities, row["d_model"].split("/"), strict=True))
    return ladders


def _by_scheme(cell: str) -> Iterator[tuple[str, str]]:
    """Yield (scheme, text): "SP 0.02; muP/SmuPar 0.087" gives three, a plain cell one."""
    cell = re.sub(r"(.+) \((SP)\)", r"\2 \1", cell)
    parts = [re.fullmatch(r"(SP|muP/SmuPar):? (.+)", part) for part in cell.split("; ")]
    if cell and all(parts):
        for part in parts:
            assert part is not None
            for name in part[1].split("/"):
                yield SCHEMES[name], part[2]
    elif cell:
        yield "", cell


def _by_rung(cell: str, ladder: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Yield (density, text): the list of a ladder's widths, or "A if d<=W else B", gives one a
    rung, a plain cell one.

    ladder: density -> width; empty for a row without one.
    """
    condition = re.fullmatch(r"(\S+) if d<=(\d+) else (\S+)", cell)
    if ladder and condition is not None:
        for density, width in ladder.items():
            yield density, condition[1] if int(width) <= int(condition[2]) else condition[3]
    elif ladder and cell == "/".join(ladder.values()):
        yield from ladder.items()
    else:
        yield "", cell


def text_claims(rows: list[Row]) -> Iterator[Row]:
    for row in rows:
        percent = re.fullmatch(r"([0-9.]+)%", row["value"])
        y_name, series = TEXT_NAMES.get(row["id"], (row["statement_in_own_words"], ""))
        fields = {
            "series": series,
            "y_name": y_name,
            "value": percent[1] if percent else row["value"],
            "unit": "%" if percent else "",
        }
        source = f"{row['source']}, {row['where']}"
        entry = _exact(TEXT_TASKS[row["id"]], source, **fields)
        if "v1" in row["where"]:
            entry |= {"status": "early_version", "version": FIRST_VERSION}
        yield entry
        if row["id"] == FLOP_RATIO:
            number = row["value"].partition("x")[0]
            place = {"task": "tab04", "series": "fig10", "y_name": "flop_ratio"}
            yield entry | place | {"value": number}


def figure_axes(rows: list[Row]) -> Iterator[Row]:
    names = {
        "x axis": "x_axis",
        "x ticks": "x_tick_range_labels",
        "y axis": "y_axis",
        "y ticks": "y_tick_range_labels",
        "series": "series",
        "seeds": "seeds",
    }
    for row in rows:
        for y_name, column in names.items():
            yield _exact(
                f"fig{int(row['figure']):02d}",
                row["source"],
                series=f"panel {row['panel']}",
                y_name=y_name,
                value=row[column],
            )


def _density(sparsity: str) -> str:
    return f"{1.0 - float(sparsity):g}"


def _early(row: Row, task: str, **fields: str) -> Row:
    return {
        "task": task,
        "unit": "nats",
        "abs_err": row["abs_err"],
        "status": "early_version",
        "version": FIRST_VERSION,
        "source": row["source"],
        **fields,
    }


def sweep_curves(rows: list[Row]) -> Iterator[Row]:
    """Yield the curves for Figures 1 and 6, then their marked optima for Figure 8."""
    for task in ("fig01", "fig06"):
        for row in rows:
            yield _early(
                row,
                task,
                series=f"{SCHEMES[row['parameterization']]} {_density(row['sparsity'])}",
                x_name="log2_lr",
                x=row["log2_peak_lr"],
                y_name="train_loss",
                value=row["train_loss"],
            )
    for row in rows:
        if row["is_marked_optimum"] == "1":
            yield _early(
                row,
                "fig08",
                series=SCHEMES[row["parameterization"]],
                x_name="density",
                x=_density(row["sparsity"]),
                y_name="train_loss",
                value=row["train_loss"],
                status="derived",
            )


def iso_parameter_curves(rows: list[Row]) -> Iterator[Row]:
    for row in rows:
        scheme, density = SCHEMES[row["parameterization"]], _density(row["sparsity"])
        yield _early(
            row,
            "fig09",
            series=f"{scheme} {density} d={row['d_model']}",
            x_name="log2_lr",
            x=row["log2_peak_lr"],
            y_name="train_loss",
            value=row["train_loss"],
        )


def transferred_losses(rows: list[Row]) -> Iterator[Row]:
    for row in rows:
        yield _early(
            row,
            "fig03",
            series=SCHEMES[row["parameterization"]],
            x_name="density",
            x=_density(row["sparsity"]),
            y_name="validation_loss",
            value=row["validation_loss"],
        )


def official_coordinates(rows: list[Row]) -> Iterator[Row]:
    """Yield the repository's plot; its step 1 is before any update, the paper's t=0."""
    for row in rows:
        value = float(row["mean_abs_activation"])
        block = {"attention": "attention"}.get(row["block"], "feed_forward")
        yield {
            "task": "fig05",
            "series": f"{SCHEMES[row['parameterization']]} {block} {int(row['step']) - 1}",
            "x_name": "density",
            "x": f"{2.0 ** float(row['log2_density']):g}",
            "y_name": "mean_abs_activation",
            "value": row["mean_abs_activation"],
            "abs_err": f"{value * float(row['rel_err']):.3g}",
            "status": "third_party",
            "version": "nanoGPT-mup, branch supar",
            "source": row["source"],
        }


FILES: Files = {
    "tab01_parameterization.csv": ("table1_parameterization.csv", table_1),
    "tab02_downstream.csv": ("table2_downstream.csv", table_2),
    "tab03_base_hyperparameters.csv": ("table3_base_hyperparameters.csv", table_3),
    "tab04_experiment_details.csv": ("table4_experiment_details.csv", table_4),
    "text_claims.csv": ("text_claims.csv", text_claims),
    "figure_axes.csv": ("figure_axes.csv", figure_axes),
    "fig01_fig06_fig08_arxiv_v1.csv": ("fig1_fig6_arxiv_v1_digitized.csv", sweep_curves),
    "fig09_arxiv_v1.csv": ("fig9_arxiv_v1_digitized.csv", iso_parameter_curves),
    "fig03_arxiv_v1.csv": ("fig3_arxiv_v1_digitized.csv", transferred_losses),
    "fig05_official_code.csv": ("fig5_official_repro_digitized.csv", official_coordinates),
}


if __name__ == "__main__":
    main()
