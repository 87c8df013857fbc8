"""The verb that measures performance goals, and compares them with what was stored."""

from __future__ import annotations

import datetime as dt
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harness.commands.common import JsonOption, print_rows, say

if TYPE_CHECKING:
    from harness.measure.goals import Baseline, Measured
    from harness.measure.regression import Comparison

SOURCE = Path(__file__).parents[2]
"""The checkout whose benchmarks are run."""

Benchmarks = Annotated[
    list[str] | None,
    typer.Argument(help="Names or patterns of tests/benchmarks/bench_<name>.py; all for none."),
]
SaveOption = Annotated[
    bool,
    typer.Option("--save", help="Store as this kind of machine's baseline, if cores are free."),
]
CompareOption = Annotated[
    bool, typer.Option("--compare", help="Compare with the baseline, relative to the control.")
]
FailOption = Annotated[
    bool, typer.Option("--fail", help="With --compare: exit 1 if something became slower.")
]
MarginOption = Annotated[
    float | None,
    typer.Option("--margin", min=0.0, help="Share by which it must be worse to count [0.1]."),
]
TryOption = Annotated[
    bool, typer.Option("--try", help="Run each once, as small as it can be: nothing is kept.")
]
StoredOption = Annotated[bool, typer.Option("--stored", help="Run nothing; print the baselines.")]
HistogramOption = Annotated[
    Path | None,
    typer.Option(help="Draw this run beside the baseline, as <prefix>-<test>.svg."),
]
TrendOption = Annotated[
    Path | None, typer.Option(help="Run nothing; draw each goal over the commits that stored it.")
]


def bench(
    select: Benchmarks = None,
    save: SaveOption = False,
    compare: CompareOption = False,
    fail: FailOption = False,
    margin: MarginOption = None,
    histogram: HistogramOption = None,
    tried: TryOption = False,
    stored: StoredOption = False,
    trend: TrendOption = None,
    as_json: JsonOption = False,
) -> None:
    """Measure the performance goals; a missed goal does not fail.

    Example:  repro bench cli_startup --compare --fail
    """
    from harness.errors import UsageError
    from harness.measure.goals import load_baselines
    from harness.store.workspace import find_workspace

    if (fail or margin is not None) and not compare:
        raise UsageError("--fail and --margin judge a comparison: add --compare")
    if (stored or trend is not None) and (save or compare or histogram is not None):
        raise UsageError("--stored and --trend run nothing: leave --save, --compare, --histogram")
    if tried and any((save, compare, histogram, stored, trend, as_json)):
        raise UsageError("--try measures nothing: no other option goes with it")
    if tried:
        return _try(select or [])
    root = find_workspace().root
    if trend is not None:
        return _draw_trend(root, trend)
    baselines = load_baselines(root)
    if stored:
        measured = ((each.kind, item) for each in baselines for item in each.measured().values())
        return _print([{"machine": kind, **_row(item)} for kind, item in measured], as_json=as_json)
    if compare and not baselines:
        raise UsageError("no baseline is stored: make one with repro bench --save")
    found, failed = _measure(root, select or [], baselines, save=save)
    told = found and _tell(found, baselines, compare, margin, histogram, as_json=as_json)
    _end(failed, nothing=found is None, slower=bool(told), fail=fail)


def _tell(
    found: Baseline,
    baselines: Sequence[Baseline],
    compare: bool,
    margin: float | None,
    histogram: Path | None,
    *,
    as_json: bool,
) -> bool:
    """Print and draw what was found beside a baseline; return whether anything became slower."""
    # That of this kind of machine, else of another; none without any.
    beside = min(baselines, key=lambda baseline: baseline.kind != found.kind, default=None)
    compared = _compared(found, beside, margin) if compare and beside else []
    _show(found, compared, as_json=as_json)
    if histogram is not None:
        _draw_histograms(histogram, found, beside)
    return beside is not None and beside.kind == found.kind and bool(_slower(compared))


def _end(failed: list[str], *, nothing: bool, slower: bool, fail: bool) -> None:
    """Raise for what did not run to its end, and if asked for what became slower."""
    from harness.errors import RunError

    if failed:
        raise RunError(f"a benchmark did not run to its end ({', '.join(failed)}): see above")
    if fail and nothing:
        raise RunError("nothing was measured, so that nothing could be compared: see above")
    if fail and slower:
        raise typer.Exit(1)


def _try(select: list[str]) -> None:
    """Run benchmarks as small as they can be. Raises RunError where one does not end well."""
    from harness.errors import RunError
    from harness.measure.bench import benchmark_files, try_benchmarks

    files = benchmark_files(SOURCE, select)
    say(f"{len(files)} benchmarks, each once: nothing is measured")
    if code := try_benchmarks(SOURCE, files):
        raise RunError(f"a benchmark did not run to its end (pytest's exit code {code}): see above")


def _measure(
    root: Path, select: list[str], baselines: Sequence[Baseline], *, save: bool
) -> tuple[Baseline | None, list[str]]:
    """Run benchmarks one by one, keeping each in runs/benchmarks/ as it ends.

    Returns what was found, and the names of those that failed.
    """
    from harness.measure import bench
    from harness.measure.goals import write_document

    files = bench.benchmark_files(SOURCE, select)
    now = dt.datetime.now(dt.UTC).strftime("%Y%m%dT%H%M%SZ")
    kept = root / "runs" / "benchmarks" / f"{now}.json"
    _say_how_long(files, baselines)
    found, failed = None, []
    for number, file in enumerate(files, start=1):
        name = file.stem.removeprefix("bench_")
        say(f"{number} of {len(files)}: {name}")
        new, code = bench.run_benchmark(SOURCE, file)
        failed += [name] if code else []
        if new is None:
            continue
        found = found.renewed(new.document, new.measured()) if found else new
        write_document(kept, found.document)
        for item in new.measured().values():
            word = "met" if item.met else "missed"
            value = f"{item.measured:.4g} {item.goal.unit}"
            say(f"  {item.name}: {value} ({item.goal.in_words()}: {word})")
        if save:
            _save(root, new)
    return found, failed


def _say_how_long(files: Sequence[Path], baselines: Sequence[Baseline]) -> None:
    from harness.measure.bench import seconds_of

    taken = [seconds_of(file, baselines) for file in files]
    known = [seconds for seconds in taken if seconds is not None]
    unknown = f"; {len(taken) - len(known)} of them never stored" if len(known) < len(taken) else ""
    say(f"{len(files)} benchmarks, about {max(sum(known) / 60, 0.1):.1f} min{unknown}")


def _save(root: Path, new: Baseline) -> None:
    """Store what was measured on free cores in this kind of machine's baseline."""
    from harness.measure.bench import is_disturbed
    from harness.measure.goals import load_baselines, save_baseline

    items = new.measured().values()
    disturbed = [item for item in items if is_disturbed(item)]
    for item in disturbed:
        say(f"{item.name} is not stored: others kept {item.other_cores} cores busy")
    if len(disturbed) < len(items):
        before = [each for each in load_baselines(root) if each.kind == new.kind]
        kept = [item.name for item in items if item not in disturbed]
        save_baseline(root, (before or [new.only(())])[0].renewed(new.document, kept))


def _compared(found: Baseline, beside: Baseline, margin: float | None) -> list[Comparison]:
    from harness.measure.goals import machine_title
    from harness.measure.regression import MARGIN, compare

    if beside.kind != found.kind:
        say(
            f"no baseline of this kind of machine: beside that of {machine_title(beside.machine)},"
            " relative to the control, which decides nothing"
        )
    before, after = beside.measured(), list(found.measured().values())
    return compare(before, after, margin=MARGIN if margin is None else margin)


def _slower(compared: Sequence[Comparison]) -> list[str]:
    """Say and return what became slower."""
    from harness.measure.regression import Change

    slower = [item.name for item in compared if item.change is Change.REGRESSION]
    if slower:
        say(f"slower than the baseline: {', '.join(slower)}")
    return slower


def _show(found: Baseline, compared: Sequence[Comparison], *, as_json: bool) -> None:
    """Print goals and measured values, and what became of them."""
    beside = {
        item.name: {
            "before": item.before, "relative": item.ratio, "p": item.p_worse, "change": item.change
        }
        for item in compared
    }  # fmt: skip
    items = found.measured().values()
    _print([{**_row(item), **beside.get(item.name, {})} for item in items], as_json=as_json)


def _row(item: Measured) -> dict[str, Any]:
    from harness.measure.bench import is_disturbed

    return {
        "name": item.name,
        "measured": item.measured,
        "direction": item.goal.direction,
        "limit": item.goal.limit,
        "unit": item.goal.unit,
        "met": item.met,
        "from_records": item.from_records,
        "load_average": item.load_average,
        "other_cores": item.other_cores,
        "disturbed": is_disturbed(item),
        "date": item.date,
    }


def _print(rows: list[dict[str, Any]], *, as_json: bool) -> None:
    bounds = [f"{row['direction'].replace('_', ' ')} {row['limit']:g}" for row in rows]
    shown = [{**row, "goal": bound} for row, bound in zip(rows, bounds, strict=True)]
    columns = ["name", "measured", "goal", "unit", "met", "other_cores"]
    if any("change" in row for row in rows):
        columns = ["name", "measured", "before", "relative", "p", "change", "met"]
    print_rows(rows if as_json else shown, as_json=as_json, columns=columns)
    missed = [row["name"] for row in rows if not row["met"]]
    tail = f"; missed: {', '.join(missed)}" if missed else ""
    say(f"{len(rows) - len(missed)} of {len(rows)} goals met{tail}")
    crowded = [row["name"] for row in rows if row["disturbed"]]
    if crowded:
        say(f"others kept the machine busy, measure again when it is free: {', '.join(crowded)}")


def _draw_histograms(prefix: Path, found: Baseline, beside: Baseline | None) -> None:
    """Let pytest-benchmark draw the seconds of this run and of the baseline, where they vary."""
    import tempfile

    from harness.measure.goals import write_document

    drawn = [e["name"] for e in found.document["benchmarks"] if len(e["stats"]["data"]) > 1]
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for name, each in (("0001_baseline", beside), ("0002_now", found)):
            if each is not None:
                files.append(Path(folder) / f"{name}.json")
                write_document(files[-1], each.only(drawn).document)
        command = [sys.executable, "-m", "pytest_benchmark", "compare", *map(str, files)]
        options = [f"--histogram={prefix}", "--group-by=name", "--columns=median,iqr,rounds"]
        done = subprocess.run([*command, *options], stdout=subprocess.DEVNULL, stderr=sys.stderr)
    if done.returncode:
        return say("nothing is drawn: pytest-benchmark could not, see above")
    say(f"drawn to {prefix}-*.svg")


def _draw_trend(root: Path, target: Path) -> None:
    from harness.publish.trend import draw_trend

    say(f"{draw_trend(root, target)} goals drawn to {target}")
