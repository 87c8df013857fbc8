"""The paper's own command: a plan for a cluster, and who has which strategy."""

from __future__ import annotations

import json
import subprocess
import sys
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


def test_strategies_may_be_systems() -> None:
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


def test_lora_trains_its_adapters_alone() -> None:
    (row,) = planned(*PAPER, "--model", "llama-65b", "--lora-rank", "16", "--strategies", "NNN")[
        "rows"
    ]
    assert row["states_bytes"] == pytest.approx(12 * 200_527_872)
    assert row["params_bytes"] == pytest.approx(2 * (65_285_660_672 + 200_527_872))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--inter-gbit", "0"], "bandwidth B=0 Gbit/s: need a finite one above 0"),
        (["--strategies", "zero4"], "no strategy or system 'zero4'; did you mean 'zero-"),
        (["--strategies", "IIG,iig"], "named twice"),
        (["--strategies", "IIG,"], "--strategies 'IIG,': no name before or after a comma"),
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
    done = CliRunner().invoke(app, ["plan", *PAPER, "--num-params", "7e9", *words])
    assert done.exit_code == 2 and done.stdout == ""
    assert len(done.stderr.splitlines()) == 1 and said in done.stderr


def test_the_front_is_drawn(tmp_path: Path) -> None:
    file = tmp_path / "front.svg"
    planned(*PAPER, "--num-params", "7e9", "--memory-gb", "20", "--plot", str(file))
    drawn = file.read_text()
    for title in ("NNN (DDP)", "GGG (ZeRO-3)", "hpZ", "III (MiCS, HSDP)"):
        assert title in drawn


def test_peers_lists_every_setting() -> None:
    rows = json.loads(CliRunner().invoke(app, ["peers", "--json"]).stdout)
    assert [row["name"] for row in rows] == [each.name for each in SETTINGS]
    assert {row["exact"] for row in rows} == {True, False}
    told = CliRunner().invoke(app, ["peers"]).stdout
    assert all(each.name in told for each in SETTINGS)
    assert "set_requires_gradient_sync(last)" in told
