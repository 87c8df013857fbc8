"""Tables 3 and 4 against our `paper` grids: what is claimed, how closely, and that it can fail."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pandas as pd
import pytest

from harness.declare.profiles import Profile
from harness.declare.reference import load_reference
from harness.declare.statistics import MissingRows
from harness.declare.verdict import Word
from harness.errors import SpecError
from harness.publish.report.printed import print_tables
from harness.store.table_csv import build_table
from reproductions.supar.models.printed import half_unit, num_digits, printed, stated
from reproductions.supar.settings import experiment as configuration
from reproductions.supar.settings import quantities as settings
from reproductions.supar.settings import tab03, tab04
from reproductions.supar.settings.trial import merge_cells, settings_of_item
from tests.checkout import PAPERS
from tests.verdicts import controlled, good

FOLDER = PAPERS / "supar"


@pytest.fixture(scope="module")
def reference() -> pd.DataFrame:
    return load_reference(FOLDER)


# --- what is claimed ---


WORDS = ("tab03", "tab04")


@pytest.mark.parametrize("word", WORDS)
def test_every_printed_number_is_claimed_or_excepted_with_a_reason(
    word: str, reference: pd.DataFrame
) -> None:
    excepted = settings.NOT_CLAIMED[word]
    rows = reference[reference["task"] == word]
    left_out = rows["y_name"].isin(excepted) | rows["value_text"].isin(excepted)
    expected = set(rows[~left_out][["y_name", "series", "x"]].fillna(-1).itertuples(index=False))
    cells = [setting.cell for setting in settings.published_settings(word)]
    claimed = [(cell.y_name, cell.series, float(cell.x or -1)) for cell in cells]
    assert set(claimed) == expected and len(claimed) == len(expected)
    assert all(excepted.values())
    assert set(excepted) <= set(rows["y_name"]) | set(rows["value_text"])


def test_exceptions_of_table_4_are_words_and_no_numbers() -> None:
    assert not [word for word in settings.NOT_CLAIMED["tab04"] if word[0].isdigit()]


@pytest.mark.parametrize("word", WORDS)
def test_published_values_are_the_reference_values(word: str, reference: pd.DataFrame) -> None:
    for setting in settings.published_settings(word):
        x = float(setting.cell.x) if setting.cell.x else None
        found = stated(reference, y_name=setting.name, series=setting.cell.series, x=x)
        assert found == setting.published


def test_one_check_of_table_4_merges_the_check_of_every_setting() -> None:
    merged = [setting.id for setting in settings.published_settings("tab04")]
    counts = Counter(map(row_of, merged))
    assert counts == {
        "fig01_06_08_14": 13,
        "fig07_13": 11,
        "fig03": 16,
        "fig05": 12,
        "fig09": 16,
        "fig10": 23,
        "fig11": 12,
        "fig12": 13,
    }
    assert len(set(merged)) == len(merged) == 116


def row_of(name: str) -> str:
    """Return the row of Table 4 that a setting's id begins with."""
    return next(item for item in configuration.TABLE_4 if name.startswith(f"{item}_"))


def test_every_row_of_table_4_has_its_grid() -> None:
    items = [cell.series.partition(" ")[0] for cell in printed("tab04")]
    assert list(dict.fromkeys(items)) == list(configuration.TABLE_4)


def test_a_printed_word_without_a_meaning_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(settings.NOT_CLAIMED, "tab04", {})
    with pytest.raises(SpecError, match="lr: 'swept' is no number"):
        list(settings.published_settings("tab04"))


# --- how closely ---


@pytest.mark.parametrize(
    ("text", "digits", "expected"),
    [
        ("0.087", 2, 5e-4),
        ("0.101", 3, 5e-4),
        ("2.166e-2", 4, 5e-6),
        ("1.095", 4, 5e-4),
        ("306e6", 3, 5e5),
        ("12.13e9", 4, 5e6),
        ("1.6e6", 2, 5e4),
        ("82e3", 2, 500.0),
        ("1e9", 1, 5e8),
        ("2", 1, 0.5),
    ],
)
def test_half_a_unit_of_the_last_printed_digit(text: str, digits: int, expected: float) -> None:
    assert (num_digits(text), half_unit(text)) == (digits, expected)


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("init_std", "0.087", 5e-4),
        ("alpha_output", "1.095", 5e-4),
        ("tokens", "1e9", 5e8),
        ("flop_ratio", "2", 0.5),
        # Chosen, not rounded: what would pass for 0.02 within half a unit is another setting.
        ("init_std", "0.02", settings.FLOAT_NOISE),
        ("alpha_output", "1", settings.FLOAT_NOISE),
        ("lr", "1.62e-2", settings.FLOAT_NOISE),
        ("alpha_input", "9.1705", settings.FLOAT_NOISE),
        ("steps", "1169", settings.FLOAT_NOISE),
    ],
)
def test_only_what_ours_has_more_digits_of_is_held_to_printed_ones(
    name: str, text: str, expected: float
) -> None:
    assert settings.tolerance_of(name, text) == expected


# --- that a grid which drifts is seen ---

Point = dict[str, Any]
Drift = Callable[[Point], Point]


def table_of(*items: str) -> pd.DataFrame:
    """Run the configuration of some items here, and return their settings."""
    word = "tab03" if items == ("tab03",) else "tab04"
    task = (tab03 if word == "tab03" else tab04).task
    frames = []
    for item in items:
        params = configuration.Item(item=item, grids_sha256="0")
        rows = settings_of_item(params, None)  # type: ignore[arg-type]
        frames += [{**params.to_json(), **row, "status": "done"} for row in rows]
    return build_table(task, {"supar/configuration": pd.DataFrame(frames)})


def differing(item: str) -> set[str]:
    """Return the settings of one item in which our grids differ from what is printed."""
    word = "tab03" if item == "tab03" else "tab04"
    found = table_of(item)
    return {
        setting.id
        for setting in settings.published_settings(word)
        if setting.item == item
        and abs(
            settings.farthest_setting(
                found,
                item=item,
                name=setting.name,
                scheme=setting.scheme,
                density=setting.density,
                published=setting.published,
            )
            - setting.published
        )
        > setting.tolerance
    }


def drift_in(monkeypatch: pytest.MonkeyPatch, item: str, drift: Drift) -> None:
    """Let the last experiment of a row of Table 4 have another `paper` grid."""
    *others, last = configuration.TABLE_4[item]

    def grid(profile: Profile) -> Iterator[Point]:
        for point in last.params_of(profile):
            yield last.typed({**point, **drift(point)})

    drifted = dataclasses.replace(last, grid=grid)
    monkeypatch.setitem(configuration.TABLE_4, item, (*others, drifted))


def at(change: Point, **where: object) -> Drift:
    """Return a drift of the points with these parameters."""
    return lambda point: change if all(point[k] == v for k, v in where.items()) else {}


@pytest.mark.parametrize("item", ["tab03", *configuration.TABLE_4])
def test_our_grids_hold_the_published_settings(item: str) -> None:
    assert differing(item) == set()


@pytest.mark.parametrize(
    ("item", "drift", "broken"),
    [
        ("fig12", at({"steps": 1168}), {"fig12_steps"}),
        ("fig12", at({"init_std": 0.043328, "scheme": "sp"}, scheme="sp"), {"fig12_init_std_sp"}),
        ("fig05", at({"init_std": 0.0217}, scheme="sp"), {"fig05_init_std"}),
        ("fig10", at({"lr": 6e-4}, scheme="sp", density=0.125), {"fig10_lr_sp_0.125"}),
        ("fig10", at({"density": 1 / 2}, density=1 / 4), None),
        ("fig09", at({"width": 1600}, density=0.25), {"fig09_d_model_0.25"}),
        ("fig09", at({"init_std": 0.0217}, scheme="sp"), {"fig09_init_std_sp"}),
        ("fig03", at({"schedule": "to_tenth"}), {"fig03_lr_decay"}),
        ("fig07_13", at({"lr": 1.68e-2}, scheme="mup_lr_only"), None),
        ("fig07_13", at({"lr": 1.68e-2}, scheme="sp"), {"fig07_13_lr"}),
        ("fig11", at({"context": 1024}), {"fig11_tokens"}),
    ],
)
def test_a_grid_that_drifts_breaks_exactly_the_claims_on_what_drifted(
    item: str, drift: Drift, broken: set[str] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    drift_in(monkeypatch, item, drift)
    if broken is None:
        with pytest.raises(SpecError, match=f"paper grid of {item} sets .* need one value"):
            differing(item)
        return
    assert differing(item) == broken


def test_the_check_counts_what_differs_and_the_report_names_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (check,) = tab04.task.claims
    whole = table_of(*configuration.TABLE_4)
    assert controlled(check, whole, seed=None, profile="smoke").word is good(check)
    assert settings.differences(whole, word="tab04").empty
    drift_in(monkeypatch, "fig12", at({"steps": 1168}))
    found = table_of(*configuration.TABLE_4)
    verdict = controlled(check, found, seed=None, profile="smoke")
    assert (verdict.word, verdict.measured) == (Word.FAILS, 1.0)
    assert settings.differences(found, word="tab04").to_dict("records") == [
        {"setting": "fig12_steps", "ours": 1168.0, "published": 1169.0}
    ]


def test_a_drift_of_one_grid_away_from_table_3_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    drift_in(monkeypatch, "fig09", at({"base_width": 128}))
    with pytest.raises(SpecError, match=r"tab03 sets d_model_base to \[128.0, 256.0\]"):
        differing("tab03")


def test_a_setting_that_our_grid_sweeps_where_the_paper_has_one_is_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (check,) = tab04.task.claims
    sweep = configuration.TABLE_4["fig01_06_08_14"]
    monkeypatch.setitem(configuration.TABLE_4, "fig07_13", sweep)
    found = table_of(*configuration.TABLE_4)
    verdict = controlled(check, found, seed=None, profile="smoke")
    assert (verdict.word, "has no one lr" in verdict.reason) == (Word.ERROR, True)


def test_a_changed_grid_is_another_trial(monkeypatch: pytest.MonkeyPatch) -> None:
    before = list(configuration.grid("cpu"))
    drift_in(monkeypatch, "fig12", at({"steps": 1168}))
    after = list(configuration.grid("cpu"))
    assert [point.item for point in before] == [point.item for point in after]
    assert {p.grids_sha256 for p in before}.isdisjoint(p.grids_sha256 for p in after)


# --- the rows ---


@pytest.mark.parametrize(
    ("values", "num_rows"),
    [
        ((2.0, 2.0, 2.0, 2.0), 1),
        ((1.0, 2.0, 1.0, 2.0), 2),
        ((1.0, 1.0, 2.0, 2.0), 2),
        ((1.0, 2.0, 2.0, 2.0), 3),
        ((1.0, 2.0, 3.0, 4.0), 4),
    ],
)
def test_merged_rows_cover_every_scheme_and_density_once(
    values: tuple[float, ...], num_rows: int
) -> None:
    places = [(scheme, density) for scheme in ("sp", "mup") for density in ("1", "0.5")]
    cells = dict(zip(places, values, strict=True))
    merged = merge_cells(cells)
    assert len(merged) == num_rows
    for (scheme, density), value in cells.items():
        covering = [
            found
            for (of_scheme, of_density), found in merged.items()
            if of_scheme in (scheme, "all") and of_density in (density, "all")
        ]
        assert covering == [value]


def test_farthest_setting_looks_at_every_value_that_the_paper_prints_as_one() -> None:
    rows = [
        ("fig10", "lr", "sp", "1", 6e-4),
        ("fig10", "lr", "sp", "0.5", 2e-4),
        ("fig10", "lr", "mup", "all", 1.62e-2),
    ]
    table = pd.DataFrame(rows, columns=["item", "setting", "scheme", "density", "value"])

    def farthest(scheme: str, density: str, published: float, name: str = "lr") -> float:
        place = {"scheme": scheme, "density": density, "published": published}
        return settings.farthest_setting(table, item="fig10", name=name, **place)

    assert farthest("sp", "0.5", 6e-4) == 2e-4
    assert farthest("sp", "all", 6e-4) == 2e-4
    assert farthest("mup", "0.5", 6e-4) == farthest("all", "all", 6e-4) == 1.62e-2
    with pytest.raises(SpecError, match="has no one steps"):
        farthest("all", "all", 1.0, name="steps")
    with pytest.raises(MissingRows, match="no row has item=fig10"):
        settings.farthest_setting(
            table.iloc[:0], item="fig10", name="lr", scheme="sp", density="1", published=1.0
        )


def test_flop_ratio_is_that_of_the_two_nets_by_hand() -> None:
    def per_token(width: int, density: float) -> float:
        # Ten layers of 12 D^2 weights, two attention products over 2048 tokens, 50257 logits.
        return 10 * (12 * width**2 * density + 2 * width * 2048) + 50257 * width

    item = configuration.Item(item="fig10", grids_sha256="0")
    rows: Any = settings_of_item(item, None)  # type: ignore[arg-type]
    (ratio,) = (row["value"] for row in rows if row["setting"] == "flop_ratio")
    assert ratio == pytest.approx(per_token(2176, 1 / 8) / per_token(768, 1.0), rel=1e-12)


# --- as it is printed ---


def test_what_the_paper_prints_of_one_scheme_stands_in_one_cell(reference: pd.DataFrame) -> None:
    rows = reference[reference["task"] == "tab04"]
    content = print_tables(tab04.task, table_of("fig11"), rows)
    (printed_table,) = content.tables
    (std,) = (
        index for index, head in enumerate(printed_table.columns) if head.text == "init. std."
    )
    shown = {
        head.text: cells[std]
        for head, cells in zip(printed_table.rows, printed_table.texts(), strict=True)
        if head.group == "Fig. 11"
    }
    assert shown["SP"] == "0.08666 / 0.087"
    assert not any(text for name, text in shown.items() if name != "SP")


def test_what_is_swept_or_absent_is_not_called_not_run(reference: pd.DataFrame) -> None:
    rows = reference[reference["task"] == "tab04"]
    table = table_of(*configuration.TABLE_4)
    content = print_tables(tab04.task, table, rows)
    texts = {text for row in content.tables[0].texts() for text in row}
    assert {"swept / swept", "N/A / N/A"} <= texts
    assert not [text for text in texts if text.startswith("x ") or text.endswith("/ n")]
