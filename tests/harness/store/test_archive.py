"""Archives carry results and artifacts, and are refused whole when anything in them is wrong."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from pathlib import Path

import pytest
import torch

from harness.canonical import canonical_json
from harness.declare.experiment import RunContext
from harness.errors import DataError, UsageError
from harness.store.archive import RECORDS, export_records, import_records
from harness.store.record import _line
from harness.store.store import RecordStore
from harness.store.trial import Trial, grid_of, trials_behind
from harness.store.workspace import Workspace
from tests.harness import inline_lab
from tests.harness.inline_lab import BASE, HEAD, SQUARES, TASKS, make_record, run_lab, tree

HEAD_TRIALS = trials_behind([TASKS["head"]], "cpu")


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """Return a checkout in which a trial with an upstream artifact has run."""
    workspace = Workspace(tmp_path_factory.mktemp("source"))
    run_lab(RecordStore(workspace), "head")
    return workspace


@pytest.fixture
def file(source: Workspace, tmp_path: Path) -> Path:
    path = tmp_path / "carry.tar.gz"
    export_records(source, HEAD_TRIALS, "cpu", path)
    return path


@pytest.fixture
def here(tmp_path: Path) -> Workspace:
    (tmp_path / "here").mkdir()
    return Workspace(tmp_path / "here")


def members_of(file: Path) -> dict[str, bytes]:
    with tarfile.open(file) as tar:
        return {m.name: stream.read() for m in tar if (stream := tar.extractfile(m))}


def rewrite(file: Path, members: dict[str, bytes]) -> None:
    """Write an archive that is sound as a file, whatever it holds."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    file.write_bytes(buffer.getvalue())


def refused(here: Workspace, file: Path) -> str:
    """Import a bad archive; return the sentence, having checked that nothing was written."""
    before = tree(here.root)
    with pytest.raises(DataError) as caught:
        import_records(here, file)
    assert tree(here.root) == before
    return str(caught.value)


def test_a_checkout_gets_results_and_artifacts_and_runs_nothing(
    source: Workspace, file: Path, here: Workspace
) -> None:
    summary = import_records(here, file)
    assert (summary.num_records, summary.num_artifacts) == (4, 2)
    for trial in (*grid_of(HEAD, "cpu"), *(t.upstream[0] for t in grid_of(HEAD, "cpu"))):
        record = RecordStore(here).result(trial)
        assert record is not None and record == RecordStore(source).result(trial)
        assert RecordStore(here).artifacts_intact(trial, record) == ""
    assert run_lab(RecordStore(here), "head").num_run == 0


def test_the_same_records_give_the_same_bytes_and_replace_no_other_file(
    source: Workspace, file: Path, here: Workspace, tmp_path: Path
) -> None:
    import_records(here, file)
    again = tmp_path / "again.tar.gz"
    export_records(here, HEAD_TRIALS, "cpu", again)
    assert again.read_bytes() == file.read_bytes()
    notes = tmp_path / "notes.txt"
    notes.write_text("of another kind")
    with pytest.raises(UsageError, match="add --force"):
        export_records(here, HEAD_TRIALS, "cpu", notes)
    assert notes.read_text() == "of another kind"


def test_records_that_unpack_to_more_than_an_import_reads_are_not_exported(
    source: Workspace, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    num_plain = len(gzip.decompress(members_of(file)[RECORDS]))
    monkeypatch.setattr("harness.store.archive.MAX_ARCHIVE_BYTES", num_plain)
    with pytest.raises(UsageError, match="more than an import reads"):
        export_records(source, HEAD_TRIALS, "cpu", file)


def test_an_archive_cut_at_any_place_is_refused_by_name(file: Path, here: Workspace) -> None:
    data = file.read_bytes()
    for length in range(0, len(data) - 1, max(1, len(data) // 23)):
        file.write_bytes(data[:length])
        assert file.name in refused(here, file), f"cut after {length} of {len(data)} bytes"


def test_an_altered_artifact_and_one_that_no_record_lists_are_refused(
    file: Path, here: Workspace
) -> None:
    members = members_of(file)
    name = next(name for name in members if name.endswith(".safetensors"))
    rewrite(file, {**members, name: members[name] + b"!"})
    assert name in refused(here, file)
    rewrite(file, {**members, "artifacts/lab/base/extra.safetensors": b"x"})
    assert "extra.safetensors" in refused(here, file)


@pytest.mark.parametrize(
    "change",
    [
        {"key": "../../../../outside"},
        {"experiment": "../lab/base"},
        {"artifacts": [{"name": "../../outside", "sha256": "0" * 64, "num_bytes": 1}]},
        {"key": "a" * 300},
        {"experiment": f"lab/{'a' * 300}"},
        {"artifacts": [{"name": "a" * 300, "sha256": "0" * 64, "num_bytes": 1}]},
        {"artifacts": [{"name": "..", "sha256": "0" * 64, "num_bytes": 1}]},
    ],
)
def test_a_record_that_points_outside_its_folder_is_refused(
    file: Path, here: Workspace, change: dict[str, object]
) -> None:
    body = json.loads(make_record(grid_of(SQUARES, "cpu")[0]).to_line())["record"]
    # A failure is not held against its key, which would refuse it first.
    body.update(change, status="failed")
    line = _line(canonical_json(body).encode())
    rewrite(file, {RECORDS: gzip.compress(line + b"\n")})
    assert "foreign" in refused(here, file)


def test_a_result_that_is_here_stays_with_its_artifacts(file: Path, here: Workspace) -> None:
    store = RecordStore(here)
    run_lab(store, "base")
    trial = Trial(BASE, {"x": 0, "seed": 0}, "cpu")
    ours = store.path(trial).read_bytes()
    import_records(here, file)
    assert store.path(trial).read_bytes() == ours
    record = store.result(trial)
    assert record is not None and store.artifacts_intact(trial, record) == ""


def test_a_committed_result_is_here_too(source: Workspace, file: Path, here: Workspace) -> None:
    records = [record for each in HEAD_TRIALS if (record := RecordStore(source).result(each))]
    for name in {record.experiment for record in records}:
        own = [record for record in records if record.experiment == name]
        RecordStore(here).pack_records(name, "cpu", own)
    assert import_records(here, file).num_records == 0


def test_what_starts_from_another_result_than_ours_is_left_out(
    file: Path, here: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def other(point: inline_lab.Point, ctx: RunContext) -> list[dict[str, float]]:
        ctx.save("weights.safetensors", {"w": torch.full((4,), 7.0)})
        return [{"y": 7.0}]

    store = RecordStore(here)
    with monkeypatch.context() as patch:
        patch.setattr(inline_lab, "base", other)
        run_lab(store, "base")
    summary = import_records(here, file)
    assert sorted(summary.left_out) == ["lab/head[k=5 seed=0 x=0]", "lab/head[k=5 seed=0 x=1]"]
    assert run_lab(store, "head").num_run == 2


def test_an_artifact_altered_at_the_source_is_left_out_and_named(
    file: Path, here: Workspace, tmp_path: Path
) -> None:
    import_records(here, file)
    trial = Trial(BASE, {"x": 0, "seed": 0}, "cpu")
    folder = RecordStore(here).artifact_folder(trial)
    (folder / "weights.safetensors").write_bytes(b"altered")
    again = tmp_path / "again.tar.gz"
    summary = export_records(here, HEAD_TRIALS, "cpu", again)
    assert summary.left_out == ["lab/base[x=0 seed=0] weights.safetensors"]
    assert import_records(Workspace(tmp_path / "third"), again).num_artifacts == 1
