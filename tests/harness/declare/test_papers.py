from pathlib import Path

import pytest

from harness.declare.papers import Deviation, deviations_of, load_deviations, load_paper
from harness.errors import SpecError

PAPER = """
id = "demo"
title = "A demo"
authors = ["A. Author"]
venue = "NeurIPS 2024"
arxiv = "2405.00000"
openreview = "abc"
code = "owner/name"
[[item]]
id = "fig01"
title = "First figure"
file = "loss/fig01.py"
[[item]]
id = "fig02"
title = "A photograph"
reason = "it shows no data"
"""

DEVIATION = """
[[deviation]]
id = "DEV-01"
what = "width"
paper = "4096"
ours = "256"
effect = "more noise"
tasks = ["fig01"]
profiles = ["smoke", "cpu"]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "demo"
    path.mkdir()
    (path / "paper.toml").write_text(PAPER)
    return path


def rewrite(folder: Path, old: str, new: str) -> None:
    path = folder / "paper.toml"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))


def test_paper_lists_every_item_in_order(folder: Path) -> None:
    paper = load_paper(folder)
    assert [item.id for item in paper.items] == ["fig01", "fig02"]
    assert paper.items[1].reason == "it shows no data"


@pytest.mark.parametrize(
    ("old", "new", "parts"),
    [
        ('title = "First', 'titel = "First', ["item[0].titel: Extra"]),
        ('venue = "', 'venu = "', ["venu: Extra"]),
        ('arxiv = "2405.00000"\n', "", ["arxiv", "required"]),
        ('title = "First', 'status = "task"\ntitle = "First', ["item[0].status: Extra"]),
        ('authors = ["A. Author"]', 'authors = "A. Author"', ["authors", "list"]),
        ('id = "fig02"', 'id = "fig01"', ["'fig01'", "twice"]),
        ('reason = "it shows no data"', "", ["item[1]", "reason"]),
        ('file = "loss/fig01.py"', "", ["item[0]", "file"]),
        ('id = "demo"', 'id = "other"', ["other", "demo"]),
        ('code = "owner/name"', 'code = "https://x.y/z"', ["code"]),
        ('title = "A demo"', "title = A demo", ["TOML", "line 3"]),
    ],
)
def test_wrong_paper_names_file_and_key(folder: Path, old: str, new: str, parts: list[str]) -> None:
    rewrite(folder, old, new)
    with pytest.raises(SpecError) as caught:
        load_paper(folder)
    message = str(caught.value)
    assert str(folder / "paper.toml") in message
    assert "\n" not in message
    for part in parts:
        assert part in message


def test_deviation_with_unknown_profile_names_file_and_key(folder: Path) -> None:
    path = folder / "deviations.toml"
    path.write_text(DEVIATION.replace('"cpu"', '"laptop"'))
    with pytest.raises(SpecError, match=r"deviations\.toml: deviation\[0\]\.profiles\[1\]"):
        load_deviations(folder)


def test_deviations_are_chosen_by_task_and_profile(folder: Path) -> None:
    everywhere = DEVIATION.replace("DEV-01", "DEV-02").replace('"fig01"', '"*"')
    (folder / "deviations.toml").write_text(DEVIATION + everywhere)
    entries: list[Deviation] = load_deviations(folder)

    def chosen(word: str, profile: str) -> list[str]:
        return [entry.id for entry in deviations_of(entries, word=word, profile=profile)]

    assert chosen("fig01", "cpu") == ["DEV-01", "DEV-02"]
    assert chosen("fig02", "cpu") == ["DEV-02"]
    assert chosen("fig01", "gpu") == []
