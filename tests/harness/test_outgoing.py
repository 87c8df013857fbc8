"""No secret, no control character and no overlong line leaves the process, whichever way."""

from __future__ import annotations

import gzip
import io
import json
import string
import unicodedata
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as budget
from hypothesis import strategies as st

from harness import outgoing
from harness.errors import UsageError
from harness.outgoing import GuardedStream, mask, tidy
from harness.settings import JUDGE_KEY, JUDGE_URL, checked_key, checked_url, judge_fault
from tests.harness.conftest import Cli
from tests.harness.toy_paper import TRIAL, ToyPaper

TOKEN = "hf_VerySecretToken7"
PASSWORD = "pass%2Fword-19"
ENVIRONMENT = {
    "HF_TOKEN": TOKEN,
    "http_proxy": f"http://someone:{PASSWORD}@127.0.0.1:9",
}
LEAK = f"""
        case "raise":
            token, proxy = os.environ["HF_TOKEN"], os.environ["http_proxy"]
            text = f"\\x1b[2J{{token}}\\r of {{proxy}}, {PASSWORD} " + "x" * 100_000
            sys.stderr.write(text + "\\n")
            print(text)
            raise ValueError(text)
"""
ODD = string.ascii_letters + string.digits + string.punctuation
PLAIN = string.ascii_letters + string.digits + '-_.~+/=%&"'
SECRETS = st.text(PLAIN, min_size=8, max_size=20)
ANYTHING = st.text(max_size=30)
SPELLINGS: list[Callable[[str], str]] = [
    str,
    json.dumps,
    lambda text: quote(text, safe=""),
    lambda text: f"http://{text}@h/",
    lambda text: f"\x1b[1m{text}\x1b[0m\r",
]


@pytest.fixture(autouse=True)
def nothing_registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outgoing, "_registered", set())


def leaks(text: str) -> list[str]:
    spelled = [TOKEN, PASSWORD, PASSWORD.replace("%2F", "/")]
    return [one for one in spelled if one in text]


def toy_that_leaks(toy: ToyPaper) -> None:
    old = """
        case "raise":
            raise ValueError("this trial is broken")
"""
    assert old in TRIAL
    toy.trial.write_text(TRIAL.replace(old, LEAK))


def files_below(folder: Path) -> dict[Path, str]:
    """Return every file's text, unpacked where it is packed."""
    found = {}
    for path in folder.rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            data = gzip.decompress(data) if path.suffix == ".gz" else data
            found[path] = data.decode(errors="replace")
    return found


def test_no_file_and_no_stream_of_a_run_holds_a_secret(toy: ToyPaper, cli: Cli) -> None:
    toy_that_leaks(toy)
    env = {**ENVIRONMENT, "TOY_MODES": "raise", "TOY_COUNT": "1"}
    words = ["toylab", "--profile", "cpu"]
    done = cli("run", *words, "--executor", "inline", **env)
    assert done.code == 3
    assert "ValueError: ***? of http://***@127.0.0.1:9" in done.err
    assert done.out == "", "what a trial prints is no result"
    seen = {"run": done.err}
    for verb in ("status", "check"):
        read = cli(verb, *words, **env)
        seen[verb] = read.out + read.err
    files = files_below(toy.root)
    assert "? of http://***@" in files[toy.csv("cpu").with_suffix(".json")]
    found = {where: leaks(text) for where, text in {**seen, **files}.items() if leaks(text)}
    assert not found
    records = [len(text) for path, text in files.items() if "records" in path.parts]
    assert max(records) < 60_000


@pytest.mark.parametrize("words", [["plan"], ["list", "--kind"], ["run", "--jobs"], ["run", "--"]])
def test_an_overlong_argument_is_not_repeated_whole(cli: Cli, words: list[str]) -> None:
    done = cli(*words, "x" * 100_000 + "\x1b[2J")
    assert done.code == 2
    assert len(done.err) < 6000
    assert "\x1b" not in done.err


def test_a_message_s_beginning_and_end_are_kept() -> None:
    text = f"no task is called {'x' * 5000}: see repro list"
    short = tidy(text)
    assert len(short) == outgoing.MESSAGE_CHARS
    assert short.startswith("no task is called xxx")
    assert short.endswith("xxx: see repro list")
    assert "characters" in short


@budget(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(secret=SECRETS, spelled=st.sampled_from(SPELLINGS), before=ANYTHING, after=ANYTHING)
def test_a_known_secret_survives_in_no_text(
    secret: str,
    spelled: Callable[[str], str],
    before: str,
    after: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = f"{before}{spelled(secret)}{after}"
    for name, value in {
        "HF_TOKEN": secret,
        "https_proxy": f"http://me:{quote(secret, safe='')}@proxy:8080",
    }.items():
        with monkeypatch.context() as patch:
            patch.setenv(name, value)
            stream = io.StringIO()
            GuardedStream(stream, is_results=True).write(text)
            for seen in (tidy(text), mask(text), tidy(text, most=60), stream.getvalue()):
                assert secret not in seen


@given(text=st.text(), most=st.integers(40, 200))
def test_tidy_text_is_short_and_has_no_control_character(text: str, most: int) -> None:
    short = tidy(text, most=most)
    assert len(short) <= most
    assert all(c in "\n\t" or unicodedata.category(c) not in ("Cc", "Cs") for c in short)
    short.encode()
    assert tidy(short, most=most) == short


@budget(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text() | st.text(ODD, min_size=8))
def test_a_key_is_taken_whole_or_refused_unseen(text: str) -> None:
    try:
        key = checked_key(JUDGE_KEY, text)
    except UsageError as error:
        assert len(text.strip()) < 8 or text.strip() not in str(error)
        return
    assert key == text.strip()
    f"Bearer {key}".encode("ascii")
    assert not key or mask(f"a{key}b") == "a***b"


@given(user=st.text(ODD, min_size=4))
def test_a_password_in_a_url_is_refused_unseen(user: str) -> None:
    with pytest.raises(UsageError) as caught:
        checked_url(JUDGE_URL, f"https://{user}:{user}@host/v1")
    assert f"{user}:{user}" not in str(caught.value)


def test_a_fault_of_the_judge_s_settings_is_named() -> None:
    fine = {
        "REPRO_JUDGE_URL": "http://h:80/v1\r\n",
        "REPRO_JUDGE_MODEL": "m",
        "REPRO_JUDGE_KEY": "sk-12345\r",
    }
    assert judge_fault(fine) == ""
    assert judge_fault({}) == "set REPRO_JUDGE_URL and REPRO_JUDGE_MODEL"
    for name, value in {
        "REPRO_JUDGE_URL": "http://a:b@h/v1",
        "REPRO_JUDGE_KEY": "sk-12 45",
        "REPRO_JUDGE_MODEL": "m\x1b[2J",
    }.items():
        assert judge_fault({**fine, name: value}).startswith(name)
