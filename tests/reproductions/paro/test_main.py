"""The paper's own command: a plan for a cluster, and who has which strategy."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from reproductions.paro.__main__ import app
from reproductions.paro.method.peers import SETTINGS

PAPER = ["-n", "32", "-m", "8", "--inter-gbit", "80", "--intra-gbit", "2000", "-s", "10"]
CLUSTERS = {
    "8 x 8 H100": ["-n", "64", "-m", "8", "--inter-gbit", "400", "--intra-gbit", "3600",
                   "--model", "llama-65b", "-s", "4", "--memory-gb", "80", "--reserved-gb", "25"],
    "16 x 8 A100": ["-n", "128", "-m", "8", "--inter-gbit", "800", "--intra-gbit", "2400",
                    "--nic", "shared", "--model", "llama-30b", "-s", "8", "--memory-gib", "40",
                    "--reserved-gb", "12"],
    "4 x 4 consumer": ["-n", "16", "-m", "4", "--inter-gbit", "25", "--intra-gbit", "200",
                       "--nic", "shared", "--model", "llama-7b", "--lora-rank", "16", "-s", "8",
                       "--memory-gib", "24", "--reserved-gb", "6", "--micro-batch-s", "0.5"],
}  # fmt: skip
"""The three of the paper's page here."""
BEST = {"8 x 8 H100": "IIG", "16 x 8 A100": "IIG", "4 x 4 consumer": "NGG"}
HEAVY = ("torch", "pandas", "transformers", "matplotlib", "numpy", "scipy")


def planned(*words: str) -> Any:
    """Return what a plan says as JSON."""
    done = CliRunner().invoke(app, ["plan", *words, "--json"])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def refused(*words: str) -> str:
    """Return the one line that says what is wrong with a plan's words."""
    done = CliRunner().invoke(app, ["plan", *words])
    assert done.exit_code == 2 and done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    return done.stderr


@pytest.mark.parametrize("name", CLUSTERS)
def test_three_clusters_are_planned(name: str) -> None:
    done = CliRunner().invoke(app, ["plan", *CLUSTERS[name]])
    assert f"{BEST[name]} takes least time of the" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 120


def test_a_plan_loads_nothing_heavy() -> None:
    code = (
        "import sys; from reproductions.paro.__main__ import app\n"
        "app(sys.argv[1:], standalone_mode=False)\n"
        f"print([name for name in {HEAVY} if name in sys.modules], file=sys.stderr)"
    )
    command = [sys.executable, "-c", code, "plan", *CLUSTERS["8 x 8 H100"]]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"


def test_strategies_may_be_systems(tmp_path: Path) -> None:
    found = planned(
        *PAPER, "--num-params", "7e9", "--strategies", "hpz, zero-3", "--strategies", "iig"
    )
    assert [row["name"] for row in found["rows"]] == ["IIG", "hpz", "zero-3"]
    assert found["rows"][1]["strategy"] == "GGG (I between passes)"
    assert found["rows"][1]["second_params_bytes"] == 14e9 / 8
    assert "FSDP2 int" in found["rows"][1]["systems"]
    assert any("IIG takes least time" in line for line in found["reason"])


def test_json_says_what_the_table_shows() -> None:
    words = [*PAPER, "--num-params", "7e9", "--memory-gb", "80", "--micro-batch-s", "1",
             "--strategies", "IIG,fsdp-hs,fsdp2-nii,GGG"]  # fmt: skip
    found = planned(*words)
    told = CliRunner().invoke(app, ["plan", *words]).stdout
    rows = {row["name"]: row for row in found["rows"]}
    assert rows["fsdp-hs"]["every"] and "fsdp-hs (III, every)" in told
    assert rows["fsdp2-nii"]["keeps"] == "I" and "fsdp2-nii (NII+I)" in told
    assert not rows["IIG"]["every"] and rows["IIG"]["keeps"] is None
    assert rows["GGG"]["usual"] == "ZeRO-3"
    assert {*rows["GGG"]["systems"].split()} <= {*told.split()}
    assert all(f"{row['comm_s']:.3g}" in told for row in rows.values()) and "comm s" in told
    asked = found["asked"]
    assert (asked["num_gpus"], asked["memory_bytes"], asked["compute_s"]) == (32, 80e9, 10.0)
    assert "80 GB for states" in told
    assert found["assumed"].split() == told.split()[-len(found["assumed"].split()) :]


def test_memory_reserved_is_not_the_states() -> None:
    words = [*PAPER, "--num-params", "7e9", "--memory-gib", "24"]
    fitting = {
        reserved: {r["name"] for r in planned(*words, "--reserved-gb", reserved)["rows"]
                   if r["fits"]}
        for reserved in ("0", "20")
    }  # fmt: skip
    assert "NIG" in fitting["0"] and "NIG" not in fitting["20"]
    assert "GGG" in fitting["20"]


def test_lora_trains_its_adapters_alone() -> None:
    (row,) = planned(*PAPER, "--model", "llama-65b", "--lora-rank", "16", "--strategies", "NNN")[
        "rows"
    ]
    assert row["states_bytes"] == pytest.approx(12 * 200_527_872)
    assert row["params_bytes"] == pytest.approx(2 * (65_285_660_672 + 200_527_872))


def test_a_config_of_one_s_own_is_planned(tmp_path: Path) -> None:
    told = {"model_type": "gpt2", "n_embd": 8, "n_layer": 2, "n_head": 2, "vocab_size": 30}
    (tmp_path / "config.json").write_text(json.dumps(told))
    found = planned(*PAPER, "--model", str(tmp_path), "--strategies", "NNN")
    assert any("two of the largest" in line for line in found["reason"])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-n", "30"], "n=30 GPUs do not fill groups of m=8: n must be a multiple of m"),
        (["--inter-gbit", "0"], "bandwidth B=0 Gbit/s: need a finite one above 0"),
        (["--strategies", "IGI"], "strategy IGI is none of the 14: its optimizer states are split"
                                  " coarser than gradients"),
        (["--strategies", "zero4"], "no strategy or system 'zero4'; did you mean 'zero-"),
        (["--strategies", "IIG,iig"], "named twice"),
        (["--strategies", "IIG,"], "--strategies 'IIG,': no name before or after a comma"),
        (["--inter-gbit", "1e-320"], "is no number that there can be: need sizes and"),
        (["--micro-batch-s", "-1"], "compute_s=-10: need finite seconds"),
        (["--model", "llama-7b"], "name --model, or --num-params in its place"),
        (["--lora-rank", "4"], "--lora-rank needs a --model"),
        (["--memory-gb", "1", "--memory-gib", "1"], "name one of them"),
        (["--memory-gb", "8", "--reserved-gb", "9"], "--reserved-gb 9 leaves nothing of 8 GB"),
        (["--reserved-gb", "9"], "without the memory that it is taken from"),
        (["--memory-gb", "inf"], "finite numbers"),
        (["--plot", "front.txt"], "must end in one of png, svg, pdf"),
    ],
)  # fmt: skip
def test_bad_input_gets_one_sentence(words: list[str], said: str) -> None:
    assert said in refused(*PAPER, "--num-params", "7e9", *words)


ABSURD = ("0", "5e-324", "1e-30", "1e30", "1.7e308", "nan")


@pytest.mark.parametrize(
    "option", ["--num-params", "--inter-gbit", "--intra-gbit", "--trainable-share", "--memory-gib",
               "--memory-gb", "--micro-batch-s"],
)  # fmt: skip
def test_no_size_gives_what_is_no_number(option: str) -> None:
    for size, more in product(ABSURD, ([], ["--world", "hier", "--json"])):
        given = [*PAPER, "--num-params", "7e9", option, size, *more]
        done = CliRunner().invoke(app, ["plan", *given])
        assert done.exit_code in (0, 2) and isinstance(done.exception, SystemExit | None)
        assert not re.search(r"\b(inf|nan|infinity)\b", done.stdout, re.IGNORECASE)
        assert done.exit_code == 0 or (len(done.stderr.splitlines()) == 1 and not done.stdout)


@pytest.mark.parametrize(
    "words", [["plan", *PAPER, "--num-params", "7e9"], ["peers", "--json"]], ids=["table", "json"]
)
def test_a_full_disk_gets_one_sentence(words: list[str]) -> None:
    command = [sys.executable, "-m", "reproductions.paro", *words]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 3
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert "the results cannot be written to stdout" in done.stderr


def test_the_front_is_drawn(tmp_path: Path) -> None:
    file = tmp_path / "front.svg"
    planned(*PAPER, "--num-params", "7e9", "--memory-gb", "20", "--plot", str(file))
    drawn = file.read_text()
    for title in ("NNN (DDP)", "GGG (ZeRO-3)", "hpZ", "III (MiCS, HSDP)"):
        assert title in drawn


def test_where_nothing_takes_time_there_is_no_front(tmp_path: Path) -> None:
    one = ["-n", "1", "-m", "1", "--inter-gbit", "1", "--intra-gbit", "1", "--num-params", "1e6"]
    assert planned(*one)["rows"][0]["step_s"] == 0.0
    assert "nothing takes time" in refused(*one, "--plot", str(tmp_path / "front.svg"))


def test_peers_lists_every_setting() -> None:
    rows = json.loads(CliRunner().invoke(app, ["peers", "--json"]).stdout)
    assert [row["name"] for row in rows] == [each.name for each in SETTINGS]
    assert {row["exact"] for row in rows} == {True, False}
    told = CliRunner().invoke(app, ["peers"]).stdout
    assert all(each.name in told for each in SETTINGS)
    assert "set_requires_gradient_sync(last)" in told
