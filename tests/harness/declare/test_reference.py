import math
from pathlib import Path

import pytest

from harness.declare.reference import COLUMNS, STANDING, load_reference, published, standings
from harness.errors import SpecError

HEADER = ",".join(COLUMNS)
ROWS = [
    "fig06,SP,log2_lr,-10.95,train_loss,3.678,nats,0.005,early_version,v1,page 1",
    "fig06,muP,log2_lr,-5.95,train_loss,3.60,nats,,exact,final,Table 9",
    "tab01,SP,,,hidden_lr,eta_base,,,exact,final,Table 1",
]


def write(folder: Path, lines: list[str], name: str = "values.csv") -> Path:
    path = folder / "reference" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(lines) + "\n")
    return path


def test_rows_of_one_task_are_typed(tmp_path: Path) -> None:
    write(tmp_path, [HEADER, *ROWS])
    frame = load_reference(tmp_path, "fig06")
    assert list(frame["value"]) == [3.678, 3.6]
    assert frame["abs_err"].iloc[0] == 0.005
    assert math.isnan(frame["abs_err"].iloc[1])


def test_text_value_is_kept_as_text(tmp_path: Path) -> None:
    write(tmp_path, [HEADER, *ROWS])
    row = load_reference(tmp_path, "tab01").iloc[0]
    assert math.isnan(row["value"])
    assert math.isnan(row["x"])
    assert row["value_text"] == "eta_base"


def test_who_changes_what_was_read_changes_it_for_nobody_else(tmp_path: Path) -> None:
    write(tmp_path, [HEADER, *ROWS])
    for task in (None, "fig06"):
        frame = load_reference(tmp_path, task)
        frame["series"] = "ours"
        assert "ours" not in set(load_reference(tmp_path, task)["series"])


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        (ROWS[0].replace("early_version", "early"), ["status='early'", "early_version"]),
        (ROWS[0].replace("-10.95", "ten"), ["x='ten'", "no number"]),
        (ROWS[0].replace("-10.95", "inf"), ["x='inf'", "no number"]),
        (ROWS[0].replace("0.005", "-0.005"), ["abs_err", "negative"]),
        (ROWS[0].replace("fig06", "supar/fig06"), ["supar/fig06", "word"]),
        (ROWS[0].replace("3.678", ""), ["value is empty"]),
        (ROWS[0].replace("page 1", ""), ["source is empty"]),
        (ROWS[0] + ",more", ["number of fields"]),
    ],
)
def test_wrong_row_names_file_and_line(tmp_path: Path, line: str, parts: list[str]) -> None:
    path = write(tmp_path, [HEADER, ROWS[1], line])
    with pytest.raises(SpecError) as caught:
        load_reference(tmp_path)
    assert f"{path}:3" in str(caught.value)
    for part in parts:
        assert part in str(caught.value)


@pytest.mark.parametrize("name", [",unit", "abs_err"])
def test_wrong_header_names_file_and_line(tmp_path: Path, name: str) -> None:
    path = write(tmp_path, [HEADER.replace(name, ""), *ROWS])
    with pytest.raises(SpecError, match="need the columns task,series") as caught:
        load_reference(tmp_path)
    assert f"{path}:1" in str(caught.value)


def test_only_exact_and_digitised_stand_as_paper(tmp_path: Path) -> None:
    statuses = ["exact", "digitised", "early_version", "third_party", "derived"]
    named = {status: STANDING[status] for status in statuses}
    assert [status for status, name in named.items() if name == "paper"] == statuses[:2]
    write(tmp_path, [HEADER, *ROWS])
    assert list(published(load_reference(tmp_path, "fig06"))["series"]) == ["muP"]


def test_mixed_standings_are_all_named() -> None:
    assert standings(["early_version", "exact", "exact"]) == "paper, early version"
    assert standings([]) == ""
