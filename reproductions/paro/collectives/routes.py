"""Which collectives bring a state from where it is to where it is needed: found by trying.

Nothing here says which collective belongs to which strategy. What GPUs hold is labelled, all
collectives are run on the labels, and the way that sends least is taken.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from heapq import heappop, heappush
from itertools import count

from reproductions.paro.collectives.messages import MOVES, Held, Move, Net, Traffic, can, run
from reproductions.paro.method.strategy import Granularity

Goal = Callable[[Held], bool]
Route = tuple[Move, ...]
Cost = tuple[int, int, int, int]


def held_by(net: Net, granularity: Granularity, label: Callable[[int], int]) -> Held:
    """Return labels of what GPUs hold; label: of a GPU."""
    return [
        {number: (label(gpu),) for number in blocks}
        for gpu, blocks in enumerate(net.owned(granularity))
    ]


@cache
def gather_route(net: Net, source: Granularity, target: Granularity) -> Route:
    """Return how values that are right where `source` has them come to where `target` has them."""
    return cheapest(net, held_by(net, source, lambda gpu: 1), _complete(net, target, 1))


@cache
def reduce_route(net: Net, grads: Granularity) -> Route:
    """Return how a backward pass's gradients come to rest so that no GPU's part is lost."""

    def nothing_lost(held: Held) -> bool:
        kept = [0] * net.num_gpus
        for gpu, blocks in enumerate(net.owned(grads)):
            for number in blocks:
                if number not in held[gpu]:
                    return False
                kept[number] |= held[gpu][number][0]
        return kept == [_everyone(net)] * net.num_gpus

    return cheapest(net, held_by(net, "N", lambda gpu: 1 << gpu), nothing_lost)


@cache
def sync_route(net: Net, grads: Granularity, states: Granularity) -> Route:
    """Return how gradients that rest under `grads` become whole sums where the states are."""
    held, traffic = held_by(net, "N", lambda gpu: 1 << gpu), Traffic(net=net)
    for move in reduce_route(net, grads):
        run(move, held, traffic)
    return cheapest(net, kept(net, held, grads), _complete(net, states, _everyone(net)))


def kept(net: Net, held: Held, granularity: Granularity) -> Held:
    """Return what GPUs keep under a granularity, of what they hold."""
    return [
        {number: held[gpu][number] for number in blocks}
        for gpu, blocks in enumerate(net.owned(granularity))
    ]


def _everyone(net: Net) -> int:
    return (1 << net.num_gpus) - 1


def _complete(net: Net, granularity: Granularity, label: int) -> Goal:
    """Return whether every GPU has the blocks of a granularity, with that label."""
    wanted = net.owned(granularity)
    return lambda held: all(
        blocks.get(number) == (label,)
        for blocks, numbers in zip(held, wanted, strict=True)
        for number in numbers
    )


def cheapest(net: Net, start: Held, goal: Goal) -> Route:
    """Return the collectives by which the busiest GPU sends least.

    Among those that send as much, the fewest, then those that send least between groups, then those
    of fewest rounds: a ring of all GPUs sends what rings in two layers send.
    """
    order = count()
    waiting: list[tuple[Cost, int, Held, Route]] = [((0, 0, 0, 0), next(order), start, ())]
    seen = set()
    while waiting:
        _, _, held, route = heappop(waiting)
        if goal(held):
            return route
        state = tuple(tuple(sorted(blocks.items())) for blocks in held)
        if state in seen:
            continue
        seen.add(state)
        for move in MOVES:
            if can(move, held, net):
                after = [dict(blocks) for blocks in held]
                run(move, after, Traffic(net=net))
                further: Route = (*route, move)
                heappush(waiting, (cost(net, start, further), next(order), after, further))
    raise AssertionError("no collectives lead there")


def cost(net: Net, start: Held, route: Route) -> Cost:
    """Return what a route sends, how many collectives it has, and in how many rounds."""
    held, traffic = [dict(blocks) for blocks in start], Traffic(net=net)
    for move in route:
        run(move, held, traffic)
    return traffic.of_gpu(), len(route), traffic.of_gpu(leaves=True), traffic.steps
