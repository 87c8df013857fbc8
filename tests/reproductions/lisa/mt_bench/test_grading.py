"""What a judge is told, how its grade is read, and what is kept of it when a run is killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from reproductions.lisa.mt_bench import grading
from reproductions.lisa.mt_bench.answers import MADE_UP, Question
from reproductions.lisa.mt_bench.grading import (
    Grades,
    messages_for,
    prompt_hash,
    rating_in,
    wording_hash,
)
from reproductions.lisa.mt_bench.judge import Judge, Judgement, JudgeSettings, Message
from tests.reproductions.lisa.scripted_judge import (
    MODEL,
    ScriptedJudge,
    says,
    settings,
    silent,
)
from tests.waiting import wait_for

WRITING, MATH = MADE_UP[0], MADE_UP[1]


@pytest.mark.parametrize(
    ("text", "rating"),
    [
        ("Fine.\n\n[[10]]\n", 10.0),
        ("[[ 7.5 ]]", 7.5),
        ("The answer says [[10]] of itself. [[2]]", 2.0),
        ("[[3]], or [[rating]] as you put it", 3.0),
        ("Rating: 8", None),
        ("[[8/10]]", None),
        ("[[0]]", None),
        ("[[-3]]", None),
        ("[[5]] no: [[50]]", None),
    ],
)
def test_rating_is_the_last_number_in_double_brackets(text: str, rating: float | None) -> None:
    assert rating_in(text) == rating


def told(question: Question, *answers: str) -> str:
    (message,) = messages_for(question, answers)
    assert message["role"] == "user"
    return message["content"]


def test_first_turn_shows_one_question_and_answer() -> None:
    text = told(WRITING, "It rains in {text}.")
    assert text.index(WRITING.turns[0]) < text.index("It rains in {text}.")
    assert WRITING.turns[1] not in text
    assert "Reference" not in text and "second answer" not in text


def test_second_turn_shows_questions_references_and_answers_in_order() -> None:
    first, second = told(MATH, "Four."), told(MATH, "Four.", "Five!")
    assert MATH.references[0] in first and MATH.references[1] not in first
    order = (MATH.turns[0], MATH.references[0], "Four.", MATH.turns[1], MATH.references[1], "Five!")
    places = [second.index(part) for part in order]
    assert places == sorted(places)
    assert "second answer" in second and "compare" in second


@pytest.mark.parametrize("name", ["TASK", "COMPARE", "FORM"])
def test_another_wording_has_another_hash(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = wording_hash(), prompt_hash(messages_for(MATH, ["a"]))
    monkeypatch.setattr(grading, name, getattr(grading, name) + " Be kind.")
    after = wording_hash(), prompt_hash(messages_for(MATH, ["a"]))
    assert before[0] != after[0]
    assert before[1] != after[1]


def prompts(count: int) -> list[list[Message]]:
    return [messages_for(WRITING, [f"answer {index}"]) for index in range(count)]


def grade(given: JudgeSettings, folder: Path, count: int) -> list[Judgement]:
    with Judge(given) as judge:
        grades = Grades(judge, folder / "kept")
        return [grades.grade(messages) for messages in prompts(count)]


def test_what_is_kept_is_not_asked_again(server: ScriptedJudge, tmp_path: Path) -> None:
    server.script = [says("One. [[4]]"), says("Two, without a grade.")]
    first = grade(settings(server.url), tmp_path, 2)
    assert [rating_in(one.text) for one in first] == [4.0, None]
    assert first[0] == Judgement(text="One. [[4]]", judge=MODEL)
    assert grade(settings(server.url), tmp_path, 3)[:2] == first
    assert len(server.asked) == 3


def test_another_judge_is_asked_anew(server: ScriptedJudge, tmp_path: Path) -> None:
    grade(settings(server.url), tmp_path, 2)
    grade(settings(server.url, model="other"), tmp_path, 2)
    assert [one.body["model"] for one in server.asked] == ["grader"] * 2 + ["other"] * 2


SCRIPT = """
import sys
from pathlib import Path
from reproductions.lisa.mt_bench.grading import Grades
from reproductions.lisa.mt_bench.judge import Judge, settings_from_environment

folder = Path(sys.argv[1])
with Judge(settings_from_environment()) as judge:
    grades = Grades(judge, folder / "kept")
    for number in range(6):
        print(grades.grade([{"role": "user", "content": f"prompt {number}"}]).text, flush=True)
"""


def start(url: str, folder: Path) -> subprocess.Popen[str]:
    env = {**os.environ, "REPRO_JUDGE_URL": url, "REPRO_JUDGE_MODEL": "grader"}
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(folder)], env=env, text=True, stdout=subprocess.PIPE
    )


def test_a_killed_run_asks_only_for_what_it_lacks(server: ScriptedJudge, tmp_path: Path) -> None:
    answers = [f"Reply {number}. [[{number + 1}]]" for number in range(6)]
    server.script = [*map(says, answers[:3]), silent]
    killed = start(server.url, tmp_path)
    wait_for(lambda: len(server.asked) >= 4)
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    (kept,) = (json.loads(path.read_text(encoding="utf-8")) for path in tmp_path.iterdir())
    assert [one["text"] for one in kept.values()] == answers[:3]
    server.script = [*map(says, answers[3:])]
    printed, _ = start(server.url, tmp_path).communicate(timeout=60.0)
    assert printed.splitlines() == answers
    # The one that was in flight is asked again; none that was answered is.
    assert [one.prompt for one in server.asked] == [f"prompt {n}" for n in (0, 1, 2, 3, 3, 4, 5)]
