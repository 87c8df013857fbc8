"""Nine ways round a seal, one edited at a time: each is seen, or our page says it is not."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest

from harness.declare import statistics
from harness.canonical import canonical_json, digest
from harness.store.record import line_digest
from tests.checkout import ROOT
from tests.harness.conftest import Cli
from tests.harness.toy_paper import TASK, ToyPaper

RUN = ("run", "toylab", "--profile", "cpu", "--executor", "inline")
VIEW = """

def view(frames):
    return frames["toylab/squares"]


task = Task("""


@pytest.fixture
def ran(toy: ToyPaper, cli: Cli) -> ToyPaper:
    """Return a toy paper that was run at `cpu`, its claim sealed before."""
    # No two seeds alike, so that an interval has a width.
    edit(toy.trial, "** 2 +", "** 2 * (1 + point.seed / 99) +")
    edit_task(toy, "\n\ntask = Task(", VIEW)
    edit_task(toy, "nullable=True),\n", "nullable=True),\n        make=view,\n")
    assert cli(*RUN).code == 0
    (row,) = check(cli, "--deep")
    assert (row["verdict"], row["seal"]) == ("REPRODUCED", "sealed")
    return toy


def check(cli: Cli, *options: str) -> list[dict[str, Any]]:
    return list(json.loads(cli("check", "toylab", "--profile", "cpu", "--json", *options).out))


def edit_task(toy: ToyPaper, old: str, new: str) -> None:
    edit(toy.task, old, new)


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def rewrite_json(toy: ToyPaper, **changes: Any) -> None:
    """Change the JSON beside the table as somebody would who knows of its digest."""
    path = toy.csv("cpu").with_suffix(".json")
    body = {**json.loads(path.read_text()), **changes}
    del body["digest"]
    path.write_text(json.dumps({**body, "digest": digest(body)}))


def body_of(toy: ToyPaper) -> dict[str, Any]:
    return dict(json.loads(toy.csv("cpu").with_suffix(".json").read_text()))


def rewrite_pack(toy: ToyPaper, **changes: Any) -> Path:
    """Change the first record of the pack, with a digest that matches."""
    path = toy.root / "results" / "toylab" / "records" / "squares.cpu.jsonl.gz"
    lines = gzip.decompress(path.read_bytes()).decode().splitlines()
    record = {**json.loads(lines[0])["record"], **changes}
    lines[0] = canonical_json({"digest": digest(record), "record": record})
    path.write_bytes(gzip.compress("".join(f"{line}\n" for line in lines).encode(), mtime=0))
    return path


def test_1_other_statistics(ran: ToyPaper, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statistics, "CONFIDENCE", 0.80)
    (row,) = check(cli)
    assert row["seal"] == "changed"
    assert [line.split(":")[0] for line in row["differences"]] == ["low", "high"]


def test_2_other_view(ran: ToyPaper, cli: Cli) -> None:
    edit_task(ran, 'return frames["toylab/squares"]', 'return frames["toylab/squares"].assign('
              'square=lambda t: t["square"] + 100 * t["x"])')  # fmt: skip
    (row,) = check(cli, "--deep")
    assert row["verdict"] == "ERROR"
    assert "does not follow from the committed records" in row["reason"]
    # Written anew by a run that has nothing to run, it is the table of the new view.
    assert cli(*RUN).code == 0
    (row,) = check(cli, "--deep")
    assert row["seal"] == "changed"
    assert any(line.startswith("measured: ") for line in row["differences"])


def test_3_value_of_the_csv_with_its_hash(ran: ToyPaper, cli: Cli) -> None:
    path = ran.csv("cpu")
    line = path.read_text().splitlines()[1]
    edit(path, line, ",".join([*line.split(",")[:-1], "12345"]))
    rewrite_json(ran, csv_sha256=hashlib.sha256(path.read_bytes()).hexdigest())
    (row,) = check(cli, "--deep")
    assert (row["verdict"], str(path) in row["reason"]) == ("ERROR", True)


@pytest.mark.parametrize(("factor", "verdict"), [(1 + 4e-16, "REPRODUCED"), (1.01, "ERROR")])
def test_a_verdict_of_another_processor_is_the_same(
    ran: ToyPaper, cli: Cli, factor: float, verdict: str
) -> None:
    told = [{**row, "low": row["low"] * factor} for row in body_of(ran)["verdicts"]]
    assert told != body_of(ran)["verdicts"]
    rewrite_json(ran, verdicts=told)
    (row,) = check(cli, "--deep")
    assert row["verdict"] == verdict, row["reason"]


def test_4_threshold_with_what_was_judged(ran: ToyPaper, cli: Cli) -> None:
    edit_task(ran, "growth, 1.0", "growth, 0.5")
    judged = body_of(ran)["judged"]
    judged["toylab/tab01:grows"]["seal"]["band"]["threshold"] = 0.5
    rewrite_json(ran, judged=judged)
    (row,) = check(cli)
    assert row["seal"] == "changed"
    assert "threshold: 1.0 then, 0.5 now" in row["differences"]


def test_5_value_of_a_record_with_its_digest(ran: ToyPaper, cli: Cli) -> None:
    rewrite_pack(ran, rows=[{"square": 12345.0}])
    (row,) = check(cli)
    assert (row["verdict"], "was changed since" in row["reason"]) == ("ERROR", True)


def test_6_seeds_chosen_after_the_run(ran: ToyPaper, cli: Cli) -> None:
    edit(ran.experiment, "range(3)", "(0, 2)")
    assert cli(*RUN).code == 0
    (row,) = check(cli)
    assert row["seal"] == "changed"
    assert "trials: other trials were planned then" in row["differences"]


def test_7_claim_deleted(ran: ToyPaper, cli: Cli) -> None:
    edit_task(ran, TASK[TASK.index("    claims=claims(") : TASK.rindex(")")], "")
    done = cli("check", "toylab", "--profile", "cpu", "--json")
    (row,) = json.loads(done.out)
    assert (done.code, row["verdict"], row["seal"]) == (1, "ERROR", "withdrawn")
    with (ran.folder / "paper.toml").open("a") as file:
        file.write(
            '\n[[withdrawn]]\ntask = "tab01"\nclaim = "grows"\ncommit = "0123456"\n'
            'reason = "It is true by algebra."\n'
        )
    done = cli("check", "toylab", "--profile", "cpu", "--json")
    (row,) = json.loads(done.out)
    assert (done.code, row["verdict"], row["decides"]) == (0, "REPRODUCED", False)
    assert row["reason"] == "withdrawn in 0123456: It is true by algebra."


def test_8_other_words(ran: ToyPaper, cli: Cli) -> None:
    edit_task(ran, '"Squares grow."', '"Everything grows."')
    edit_task(ran, '"nowhere"', '"everywhere"')
    (row,) = check(cli)
    assert row["seal"] == "sealed"
    assert row["differences"] == [
        'it was then stated as "Squares grow."',
        'its source was then given as "nowhere"',
    ]


def test_9_same_seeds_again(ran: ToyPaper, cli: Cli) -> None:
    edit_task(ran, "growth, 1.0", "growth, 0.5")
    assert check(cli)[0]["seal"] == "changed"
    edit(ran.trial, 'log("end", point.to_json())', "pass")
    assert cli(*RUN, "--stale").code == 0
    (row,) = check(cli, "--deep")
    assert row["seal"] == "renewed"
    assert "threshold: 1.0 then, 0.5 now" in row["differences"]


def test_a_page_says_how_many_trials_ran_older_code(ran: ToyPaper, cli: Cli) -> None:
    page = ran.root / "results" / "toylab" / "README.md"
    assert cli("report").code == 0
    total = re.search(r"\b0 of (\d+) trials come from \[?older code", page.read_text())
    assert total is not None
    edit(ran.trial, 'log("end", point.to_json())', "pass")
    assert cli("report").code == 0
    for path in (page, ran.root / "RESULTS.md", ran.root / "site" / "index.html"):
        text = re.sub(r"<[^>]*>", "", path.read_text())
        assert re.search(rf"\b{total[1]} of {total[1]} trials come from \[?older code", text), path


def test_quantity_changed_before_anything_was_judged(toy: ToyPaper, cli: Cli) -> None:
    """Some trials ran under the code of the seal, which never measured; then another code did."""
    assert cli(*RUN, TOY_MODES="raise").code == 3
    edit(toy.trial, "raise ValueError(", "print(")
    edit_task(toy, "def growth(table):\n", "def growth(table):\n    return 2.0\n")
    assert cli(*RUN, TOY_MODES="raise").code == 0
    (row,) = json.loads(cli("check", "toylab", "--profile", "cpu", "--json", TOY_MODES="raise").out)
    assert (row["verdict"], row["seal"]) == ("REPRODUCED", "changed")


def test_new_version_of_the_experiment(ran: ToyPaper, cli: Cli) -> None:
    edit(ran.experiment, "version=1", "version=2")
    edit_task(ran, "growth, 1.0", "growth, 0.5")
    assert cli(*RUN).code == 0
    (row,) = check(cli, "--deep")
    assert row["seal"] == "renewed"
    assert "threshold: 1.0 then, 0.5 now" in row["differences"]


def test_json_that_names_no_records(ran: ToyPaper, cli: Cli) -> None:
    rewrite_json(ran, lines={})
    (row,) = check(cli)
    assert (row["verdict"], "does not name all its records" in row["reason"]) == ("ERROR", True)


def test_json_lost_and_made_anew(ran: ToyPaper, cli: Cli) -> None:
    path = ran.csv("cpu").with_suffix(".json")
    path.write_text("{")
    done = cli(*RUN)
    assert (done.code, "restore" in done.err) == (2, True)
    assert path.read_text() == "{"


def test_seeds_pooled_after_the_run(ran: ToyPaper, cli: Cli) -> None:
    edit_task(ran, "by_theory(profiles", "by_theory(deterministic=True, profiles")
    (row,) = check(cli)
    assert "deterministic: False then, True now" in row["differences"]


def test_variant_of_one_seed_before_the_whole_grid_changes_nothing(toy: ToyPaper, cli: Cli) -> None:
    assert cli(*RUN, "--seeds", "1").code == 0
    assert cli(*RUN).code == 0
    assert [row["seal"] for row in check(cli, "--deep")] == ["sealed"]


def test_late_claim_stays_late_when_its_trials_run_again(ran: ToyPaper, cli: Cli) -> None:
    edit_task(ran, '"grows"', '"rises"')
    rows = {row["claim"]: row for row in check(cli)}
    assert rows["rises"]["seal"] == "late"
    assert rows["grows"]["seal"] == "withdrawn"
    edit(ran.trial, 'log("end", point.to_json())', "pass")
    assert cli(*RUN, "--stale").code in (0, 1)
    assert {row["claim"]: row["seal"] for row in check(cli)}["rises"] == "late"


def test_file_moved_and_quantity_renamed_is_restated_at_most(ran: ToyPaper, cli: Cli) -> None:
    (ran.folder / "numbers.py").write_text(
        'def rise(table):\n    return float(table["square"].max() - table["square"].min())\n'
    )
    edit_task(ran, "from toylab.squares", "from toylab.numbers import rise\nfrom toylab.squares")
    edit_task(ran, "at_least(growth", "at_least(rise")
    assert check(cli, "--deep")[0]["seal"] == "sealed"
    edit(ran.folder / "numbers.py", "return float(", "return 1.0 * float(")
    assert check(cli, "--deep")[0]["seal"] == "restated"


def test_provenance_of_the_json_is_held_against_the_records(ran: ToyPaper, cli: Cli) -> None:
    rewrite_json(ran, provenance={**body_of(ran)["provenance"], "commits": ["f" * 40]})
    (row,) = check(cli, "--deep")
    assert (row["verdict"], "provenance" in row["reason"]) == ("ERROR", True)


def forgeries(body: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return what a review forged in the JSON beside a table, one field each."""
    source, verdicts = body["provenance"], body["verdicts"]
    return {
        "commits": {"provenance": {**source, "commits": ["f" * 40]}},
        "dirty": {"provenance": {**source, "dirty": not source["dirty"]}},
        "machines": {"provenance": {**source, "machines": [{"cpu": "a better one"}]}},
        "num_records": {"num_records": 99},
        "threshold": {"verdicts": [{**row, "threshold": 1.5} for row in verdicts]},
        "verdict": {"verdicts": [{**row, "verdict": "NOT_REPRODUCED"} for row in verdicts]},
        "schema_version": {"schema_version": 99},
        "failed without a gap": {"trials": {**body["trials"], "failed": 3}, "not_run": []},
    }


def test_every_forged_field_of_the_json_is_seen(ran: ToyPaper, cli: Cli) -> None:
    """Without its digest by any check, with a digest that fits by a deep one."""
    path = ran.csv("cpu").with_suffix(".json")
    text = path.read_text()
    for name, change in forgeries(body_of(ran)).items():
        path.write_text(json.dumps({**json.loads(text), **change}))
        (row,) = check(cli)
        assert (row["verdict"], str(path) in row["reason"]) == ("ERROR", True), name
        rewrite_json(ran, **change)
        (row,) = check(cli, "--deep")
        assert (row["verdict"], str(path) in row["reason"]) == ("ERROR", True), name
        path.write_text(text)


def test_trials_without_result_that_name_no_gap_are_no_crash(ran: ToyPaper, cli: Cli) -> None:
    rewrite_json(ran, trials={**body_of(ran)["trials"], "failed": 3}, not_run=[])
    (row,) = check(cli)
    assert (row["verdict"], row["reason"]) == ("NOT_RUN", "3 of 15 trials have no result")


def test_key_that_stands_twice_in_the_json_is_seen(ran: ToyPaper, cli: Cli) -> None:
    path = ran.csv("cpu").with_suffix(".json")
    # The last one counts, so that the digest still fits.
    path.write_text(path.read_text().replace("{", '{"task": "toylab/other", ', 1))
    (row,) = check(cli)
    assert (row["verdict"], "the key 'task' stands twice" in row["reason"]) == ("ERROR", True)


def test_table_edited_with_its_hash_is_seen_by_any_check(ran: ToyPaper, cli: Cli) -> None:
    path = ran.csv("cpu")
    edit(path, path.read_text().splitlines()[1], "0,ok,0,12345")
    beside = path.with_suffix(".json")
    body = {**body_of(ran), "csv_sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
    beside.write_text(json.dumps(body))
    (row,) = check(cli)
    assert (row["verdict"], "was edited" in row["reason"]) == ("ERROR", True)


DISAGREES = {
    "version": {"version": 99},
    "device": {"device": "cuda"},
    "params": {"params": {"x": 0, "ms": 0, "mode": "ok", "seed": 77}},
    "upstream": {"upstream": ["0" * 64]},
}


@pytest.mark.parametrize("change", DISAGREES.values(), ids=DISAGREES)
def test_record_that_disagrees_with_its_key_is_refused(
    ran: ToyPaper, cli: Cli, change: dict[str, Any]
) -> None:
    pack = rewrite_pack(ran, **change)
    lines = {key[:16]: line for line, key in lines_of(pack)}
    rewrite_json(ran, lines={"toylab/squares": lines})
    (row,) = check(cli)
    assert (row["verdict"], "disagrees with its key" in row["reason"]) == ("ERROR", True)
    done = cli(*RUN)
    assert (done.code, f"{pack} line 1 disagrees with its key" in done.err) == (2, True)


def lines_of(pack: Path) -> list[tuple[str, str]]:
    """Return digest and key of each line of a pack."""
    lines = gzip.decompress(pack.read_bytes()).decode().splitlines()
    return [(line_digest(line), json.loads(line)["record"]["key"]) for line in lines]


def test_profile_is_no_part_of_a_key_and_must_be_one(ran: ToyPaper, cli: Cli) -> None:
    """Whoever asked first: a result of smoke is one of cpu where the parameters are the same."""
    rewrite_pack(ran, profile="huge")
    done = cli(*RUN)
    assert (done.code, "at profile 'huge'" in done.err) == (2, True)


def test_record_without_seals_is_late(ran: ToyPaper, cli: Cli) -> None:
    pack = rewrite_pack(ran, seals={})
    lines = {key[:16]: line for line, key in lines_of(pack)}
    rewrite_json(ran, lines={"toylab/squares": lines})
    (row,) = check(cli)
    assert row["seal"] == "late"


def test_our_page_says_what_no_seal_sees() -> None:
    text = " ".join((ROOT / "docs" / "verdicts.md").read_text().split())
    assert "rewritten consistently" in text
