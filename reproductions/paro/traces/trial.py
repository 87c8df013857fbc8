"""From what ranks noted to rows, beside what the schedule says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from harness.declare import Row, RunContext
from reproductions.paro.method.schedule import Step as Planned
from reproductions.paro.method.schedule import schedule
from reproductions.paro.method.strategy import strategy_of
from reproductions.paro.models.gloo_ranks import on_ranks
from reproductions.paro.traces.experiment import DRAWN, Gather, Step
from reproductions.paro.traces.ranks import gather_on_rank, steps_on_rank

Event = Mapping[str, Any]
UPDATE = "update"


def step_rows(step: Step, ctx: RunContext) -> list[Row]:
    """Run a step by each strategy; return a row per event, messages left out."""
    ranks = on_ranks(steps_on_rank, step.num_ranks, point=step.to_json())
    rows: list[Row] = []
    for letters in DRAWN:
        start_s = min(event["start_s"] for rank in ranks for event in rank[letters])
        for number, rank in enumerate(ranks):
            known: dict[str, Any] = {
                "strategy": letters,
                "rank": number,
                "num_planned": num_planned(letters, step),
            }
            rows += [{**known, **row} for row in rows_of(rank[letters], letters, step, start_s)]
    return rows


def rows_of(events: list[Event], letters: str, step: Step, start_s: float) -> Iterator[Row]:
    """Yield one rank's rows: computation, and communication with the update in it."""
    tracks = {
        "computation": [e for e in events if e["work"] in ("forward", "backward")],
        "communication": [e for e in events if e["work"] in ("collective", "optimizer")],
    }
    for track, own in tracks.items():
        plan = planned(own, letters, step) if track == "communication" else [""] * len(own)
        for place, (event, name) in enumerate(zip(own, plan, strict=True)):
            yield {"track": track, "place": place, **row_of(event, start_s), "planned": name}


def planned(events: list[Event], letters: str, step: Step) -> Iterator[str]:
    """Yield what each event should be by the schedule: a unit's own next, or of all units."""
    steps = list(schedule(strategy_of(letters)))
    passes = [name_of(each) for each in steps if each.per_micro_batch] * step.micro_steps
    after = [each for each in steps if not each.per_micro_batch]
    boundary = iter([
        *(name_of(each) for each in after if each.term == "sync_g"), UPDATE,
        *(name_of(each) for each in after if each.term == "sync_p"),
    ])  # fmt: skip
    by_unit: dict[str, Iterator[str]] = {}
    for event in events:
        in_pass = event["term"] in ("param", "gradient")
        own = by_unit.setdefault(event["units"][0], iter(passes)) if in_pass else boundary
        yield next(own, "nothing")


def num_planned(letters: str, step: Step) -> int:
    """Return how many collectives and updates a rank's step has; a unit per layer, and the rest."""
    steps = list(schedule(strategy_of(letters)))
    times = step.micro_steps * (step.num_layers + 1)
    return 1 + sum(times if each.per_micro_batch else 1 for each in steps)


def name_of(planned: Planned) -> str:
    return f"{planned.term}: {planned.collective.kind} {planned.collective.scope}"


def row_of(event: Event, start_s: float) -> dict[str, Any]:
    """Return what a row says of an event by itself."""
    found = event["collective"]
    done = f"{event['term']}: {found['kind']} {found['scope']}" if found else event["work"]
    return {
        "done": UPDATE if done == "optimizer" else done,
        "units": " + ".join(event["units"]),
        **sent_when(event, start_s),
    }


def sent_when(event: Event, start_s: float) -> dict[str, Any]:
    """Return what an event sent, and when, from a start on."""
    return {
        "sent_bytes": event["num_bytes"],
        "start_ms": 1e3 * (event["start_s"] - start_s),
        "end_ms": 1e3 * (event["end_s"] - start_s),
    }


def gather_rows(gather: Gather, ctx: RunContext) -> list[Row]:
    """Run an all-gather; return a row per message, with how far its part had come."""
    ranks = on_ranks(gather_on_rank, gather.num_ranks, point=gather.to_json())
    start_s = min(event["start_s"] for rank in ranks for event in rank)
    return [
        {
            "rank": rank, "place": place, "to": event["to"], "part": event["part"],
            "scope": "inter" if groups_come(event["to"], rank, gather) else "intra",
            "groups_come": groups_come(event["part"], rank, gather),
            **sent_when(event, start_s),
        }
        for rank, events in enumerate(ranks)
        for place, event in enumerate(e for e in events if e["work"] == "message")
    ]  # fmt: skip


def groups_come(part: int, rank: int, gather: Gather) -> int:
    """Return how many groups a part has come around the ring of groups to its sender's."""
    num_groups = gather.num_ranks // gather.group_size
    return (rank // gather.group_size - part // gather.group_size) % num_groups
