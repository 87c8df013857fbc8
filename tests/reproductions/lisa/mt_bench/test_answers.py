"""MT-Bench's questions and answers, and its trials from model to record."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from scipy.stats import chisquare
from transformers import LlamaConfig, LlamaForCausalLM

from harness.data import load as datasets
from harness.errors import SpecError
from harness.registry import Library, experiments_of
from harness.run.executors.worker import InlineExecutor
from harness.run.plan import MachineLimits, make_plan
from harness.run.runner import Runner, Summary
from harness.store.result import build_result, json_text
from harness.store.store import RecordStore
from harness.store.trial import grid_of
from harness.store.workspace import Workspace
from reproductions.lisa.finetuning import experiment as finetune
from reproductions.lisa.models.instructions import prompt_of
from reproductions.lisa.models.language_model import LanguageModel
from reproductions.lisa.models.tokenizer import as_tensor, from_tensor, learn_tokenizer
from reproductions.lisa.mt_bench import experiment as mt_bench
from reproductions.lisa.mt_bench import tab03
from reproductions.lisa.mt_bench.answers import (
    MADE_UP,
    TEMPERATURES,
    WITH_REFERENCE,
    Question,
    answer,
    read_questions,
    sampled,
)
from tests.harness.inline_lab import FACTS, Silent, overridden
from tests.reproductions.lisa.decoding_models import plain_greedy
from tests.reproductions.lisa.scripted_judge import (
    MODEL,
    ScriptedJudge,
    says,
    status,
)

CONTEXT = 128
JUDGED = {"judged": True}
KEY = "sk-very-secret"
LIMITS = MachineLimits(memory_bytes=2**34, has_cuda=False, gpu_bytes=0)


@pytest.fixture(scope="module")
def lm() -> LanguageModel:
    """Return a model with large random weights, whose texts differ."""
    tokenizer = learn_tokenizer(["a question about rain and snow, two and three"], vocab_size=280)
    config = LlamaConfig(
        vocab_size=280, hidden_size=16, intermediate_size=24, num_hidden_layers=2,
        num_attention_heads=2, num_key_value_heads=1, max_position_embeddings=CONTEXT,
    )  # fmt: skip
    model = LlamaForCausalLM(config).eval().double()
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in model.parameters():
            noise = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
            parameter.copy_(noise if parameter.dim() > 1 else 1.0 + 0.1 * noise)
    return LanguageModel(model=model, tokenizer=from_tensor(as_tensor(tokenizer)))


@pytest.mark.data
def test_staged_questions_are_eighty_in_eight_categories() -> None:
    names = (mt_bench.QUESTIONS, mt_bench.REFERENCES)
    records, references = (datasets.load(name).records for name in names)
    questions = read_questions(records, references)
    assert Counter(question.category for question in questions) == dict.fromkeys(TEMPERATURES, 10)
    assert len({question.id for question in questions}) == 80
    with_reference = {q.id: q.references for q in questions if q.references}
    assert len(with_reference) == 30
    assert set(with_reference) == {q.id for q in questions if q.category in WITH_REFERENCE}
    told = next(one for one in references if one["question_id"] == 111)
    assert list(with_reference[111]) == told["choices"][0]["turns"]


def seed_of(stream: str) -> int:
    return sum(stream.encode())


def prompted(turn: str) -> str:
    """Return a turn as the model has learned to read instructions."""
    return prompt_of({"instruction": turn, "input": ""})


MATH = replace(MADE_UP[1], turns=("two?", "three?"))


@pytest.mark.parametrize("first_turn", ["two?", "rain and snow, " * 40], ids=["short", "cut"])
def test_the_second_turn_follows_the_first_and_a_long_conversation_loses_its_start(
    first_turn: str, lm: LanguageModel
) -> None:
    count = 12
    question = replace(MATH, turns=(first_turn, "three?"))
    room = CONTEXT - count - 1
    conversation: list[int] = []
    found = answer(lm, question, max_new_tokens=count, seed_of=seed_of)
    for one, prompt in zip(found, (prompted(first_turn), f" {prompted('three?')}"), strict=True):
        conversation += lm.encode(prompt)
        said = plain_greedy(lm, [lm.bos, *conversation[-room:]], most=count)
        assert one.text == lm.tokenizer.decode(said).strip()
        assert one.num_tokens == len(said)
        assert one.num_cut == max(0, len(conversation) - room)
        conversation += said


def test_no_room_for_a_question_is_refused(lm: LanguageModel) -> None:
    with pytest.raises(SpecError, match="no room for a question"):
        answer(lm, MATH, max_new_tokens=CONTEXT - 1, seed_of=seed_of)


def test_answers_depend_on_their_own_seed_alone(lm: LanguageModel) -> None:
    def texts(questions: Sequence[Question], shift: int = 0) -> dict[int, list[str]]:
        return {
            q.id: [
                one.text
                for one in answer(lm, q, max_new_tokens=8, seed_of=lambda s: seed_of(s) + shift)
            ]
            for q in questions
        }

    writing, math, _ = MADE_UP
    before = torch.random.get_rng_state()
    found = texts(MADE_UP)
    assert torch.equal(before, torch.random.get_rng_state())
    assert texts(MADE_UP[::-1]) == found
    other = texts(MADE_UP, shift=1000)
    assert other[writing.id] != found[writing.id]
    assert other[math.id] == found[math.id]


def test_samples_have_the_softmax_s_probabilities(lm: LanguageModel) -> None:
    temperature = 0.7
    ids_BT = torch.tensor([lm.encode("rain")]).expand(20_000, -1)
    generator = torch.Generator().manual_seed(1)
    scores = sampled(temperature=temperature, generator=generator)
    with torch.inference_mode():
        logits_V = lm.model(ids_BT[:1]).logits[0, -1]
        drawn_B = scores(lm.model(ids_BT, use_cache=False)).argmax(-1)
    found_V = torch.bincount(drawn_B, minlength=len(logits_V))
    wanted_V = len(drawn_B) * torch.softmax(logits_V / temperature, dim=0)
    often_V = wanted_V >= 20.0
    found = [*found_V[often_V].tolist(), int(found_V[~often_V].sum())]
    wanted = [*wanted_V[often_V].tolist(), float(wanted_V[~often_V].sum())]
    assert len(found) > 5
    assert chisquare(found, wanted).pvalue > 1e-3
    # It tells this temperature from another.
    other_V = len(drawn_B) * torch.softmax(logits_V / (1.1 * temperature), dim=0)
    other = [*other_V[often_V].tolist(), float(other_V[~often_V].sum())]
    assert chisquare(found, other).pvalue < 1e-6


@pytest.fixture
def server(server: ScriptedJudge, monkeypatch: pytest.MonkeyPatch) -> ScriptedJudge:
    monkeypatch.setenv("REPRO_JUDGE_URL", server.url)
    monkeypatch.setenv("REPRO_JUDGE_MODEL", "grader")
    # As a file with Windows line ends gives it.
    monkeypatch.setenv("REPRO_JUDGE_KEY", f"{KEY}\r")
    return server


TASK = tab03.task


def run(store: RecordStore) -> Summary:
    """Run Table 3 at smoke in this process, with everything that it starts from."""
    library = Library()
    library.tasks[TASK.id] = TASK
    library.modules[TASK.id] = tab03.__name__
    for experiment in experiments_of([TASK]):
        library.experiments.setdefault(experiment.id, experiment)
    plan = make_plan([TASK], "smoke", overridden(store, JUDGED), LIMITS)
    facts = {**FACTS, "overrides": dict(plan.overrides)}
    return Runner(plan, store, library, InlineExecutor(), Silent(), facts=facts).run()


def test_a_failed_trial_goes_on_where_it_was(server: ScriptedJudge, tmp_path: Path) -> None:
    """Also where the judge repeats the key in what it says and in its refusal."""
    store = RecordStore(Workspace(tmp_path))
    replies = [says(f"Well, {KEY}. [[4]]"), says("I cannot say."), says("[[9]]"), says("[[2]]")]
    server.script = [*replies, status(400, f"no more today, {KEY}")]
    server.then = says("[[3]]")
    (failed,) = run(store).failed
    assert "no more today, ***" in failed.note
    result = build_result(TASK, "smoke", store.read, JUDGED)
    assert result is not None
    assert "no more today, ***" in json_text(result.meta)
    files = [path for path in store.workspace.runs.rglob("*") if path.is_file()]
    assert not [path for path in files if KEY.encode() in path.read_bytes()]
    before = [one.prompt for one in server.asked]
    # The other trial was run to its end.
    assert len(before) == 5 + 6
    assert run(store).failed == []
    again = [one.prompt for one in server.asked][len(before) :]
    # The one that was refused is asked again, and the one that never was.
    assert again[0] == before[4]
    assert len(again) == 2
    assert again[1] not in before[:5]
    trials = [trial for e in TASK.reads for trial in grid_of(e, "smoke", JUDGED)]
    vanilla, lisa = (record for trial in trials if (record := store.result(trial)))
    # Fine-tuning changed what it says, and the judge was told what either said.
    assert [row["answer"] for row in vanilla.rows] != [row["answer"] for row in lisa.rows]
    asked = {one.prompt for one in server.asked}
    for row in (*vanilla.rows, *lisa.rows):
        assert any(str(row["answer"]) in prompt for prompt in asked)
    assert {row["lr"] for row in lisa.rows} == {finetune.RATES["usual"]}
    ratings = [row["rating"] for row in vanilla.rows]
    assert ratings == [4.0, None, 9.0, 2.0, 3.0, 3.0]
    assert [row["judgement"] for row in vanilla.rows[:2]] == ["Well, ***. [[4]]", "I cannot say."]
    assert {row["judge"] for row in vanilla.rows} == {MODEL}
    assert not list((store.workspace.runs / "checkpoints").iterdir())
