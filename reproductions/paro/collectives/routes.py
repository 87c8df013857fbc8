"""Which collectives bring a state from where it is to where it is needed: found by trying.

Nothing here says which collective belongs to which strategy. What GPUs hold is labelled, all
collectives are run on the labels, and the way that sends least is taken.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from heapq import heappop, heappush
from itertools import count

import numpy as np

from reproductions.paro.collectives.messages import MOVES, Held, Move, Net, Traffic, can, run
from reproductions.paro.method.strategy import Granularity

Goal = Callable[[Held], bool]
Route = tuple[Move, ...]
Cost = tuple[int, int, int, int]


def held_by(net: Net, granularity: Granularity, labels_N: np.ndarray | int) -> Held:
    """Return labels of what GPUs hold: one of each GPU, or the same of all."""
    owned = net.owned(granularity)
    labels = np.broadcast_to(labels_N, net.num_gpus)
    return Held((owned * labels[:, None])[..., None], owned)


def own_parts(net: Net) -> Held:
    """Return what GPUs hold after a backward pass: each its own part of every sum."""
    return held_by(net, "N", 1 << np.arange(net.num_gpus))


@cache
def gather_route(net: Net, source: Granularity, target: Granularity) -> Route:
    """Return how values that are right where `source` has them come to where `target` has them."""
    return cheapest(net, held_by(net, source, 1), _complete(net, target, 1))


@cache
def reduce_route(net: Net, grads: Granularity) -> Route:
    """Return how a backward pass's gradients come to rest so that no GPU's part is lost."""
    owned = net.owned(grads)

    def nothing_lost(held: Held) -> bool:
        kept = np.bitwise_or.reduce(held.only(owned).values_NBE, axis=0)
        return bool(held.there_NB[owned].all() and (kept == everyone(net)).all())

    return cheapest(net, own_parts(net), nothing_lost)


@cache
def sync_route(net: Net, grads: Granularity, states: Granularity) -> Route:
    """Return how gradients that rest under `grads` become whole sums where the states are."""
    held = own_parts(net)
    for move in reduce_route(net, grads):
        run(move, held, Traffic(net=net))
    return cheapest(net, held.only(net.owned(grads)), _complete(net, states, everyone(net)))


def everyone(net: Net) -> int:
    """Return the label of a whole sum."""
    return (1 << net.num_gpus) - 1


def _complete(net: Net, granularity: Granularity, label: int) -> Goal:
    """Return whether every GPU has the blocks of a granularity, with that label."""
    wanted = net.owned(granularity)
    return lambda held: bool((held.values_NBE[wanted] == label).all())


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
        # No label is 0, so that what is there is known by it.
        state = held.values_NBE.tobytes()
        if state in seen:
            continue
        seen.add(state)
        for move in MOVES:
            if can(move, held, net):
                after = held.copy()
                run(move, after, Traffic(net=net))
                further: Route = (*route, move)
                heappush(waiting, (cost(net, start, further), next(order), after, further))
    raise AssertionError("no collectives lead there")


def cost(net: Net, start: Held, route: Route) -> Cost:
    """Return what a route sends, how many collectives it has, and in how many rounds."""
    held, traffic = start.copy(), Traffic(net=net)
    for move in route:
        run(move, held, traffic)
    return traffic.of_gpu(), len(route), traffic.of_gpu(leaves=True), traffic.steps
