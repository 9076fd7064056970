"""In which order the joints of a mechanism are eliminated, found once from its graph.

Joints that share a body are neighbours: S = J M^-1 J' has a block for every pair of them. To eliminate a joint couples its
neighbours with each other. In each level joints with few neighbours are eliminated that are no neighbours of each other, so
that a level is one batch of small dense operations; a chain or ladder of N bodies takes about log2(N) levels of at most N / 2
each. What is left in the end, a few joints or a dense rest, is eliminated as one.
"""

import dataclasses
import functools
import itertools
from collections.abc import Sequence

import numpy as np

from .jacobian import stacked

Graph = dict[int, set[int]]

#: Levels end when so few joints are left (as one they are faster), or when less than this part of them can be eliminated at
#: once.
FEW, SHARE = 6, 0.15


@dataclasses.dataclass(frozen=True, eq=False)
class Level:
    """One batch of eliminations. Joints and blocks are numbered anew in each level: first the blocks on the diagonal, in the
    order of the joints, then those of neighbours, with the rows of the joint that is eliminated later. One past the
    last is zero."""

    pivots: np.ndarray
    """(b,) joints that are eliminated."""
    rest: np.ndarray
    """Joints that are left, the next level's."""
    neighbours: np.ndarray
    """(d, b) neighbours of each pivot, by the next level's numbers."""
    beside: np.ndarray
    """(d, b) blocks of neighbours and pivots."""
    keep: np.ndarray
    """What the blocks of the next level are in this one."""
    updates: np.ndarray
    """(layers, blocks of the next level) what is subtracted from them, by its place among (d, d, b) products."""
    receives: np.ndarray
    """(layers, joints of the next level) what is subtracted from their right-hand sides, by its place among (d, b)."""
    merge: np.ndarray
    """Where to find the joints of this level among those of the next level and, after them, the pivots."""


@dataclasses.dataclass(frozen=True, eq=False)
class Elimination:
    """Levels, and the blocks below and on the diagonal of what is left."""

    pairs: tuple[tuple[int, int], ...]
    """Neighbours (row, column) of the blocks beside the diagonal at the start."""
    levels: tuple[Level, ...]
    last: np.ndarray
    """(k, k) blocks of the joints that are left."""

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of joints that each level eliminates, the rest last."""
        return (*(level.pivots.size for level in self.levels), len(self.last))


@functools.lru_cache(maxsize=64)
def elimination(bodies_of: tuple[tuple[int, ...], ...]) -> Elimination:
    """The levels for joints between the bodies given (without the ground)."""
    graph = neighbours_of(bodies_of)
    chosen, left = _choose_levels({joint: set(others) for joint, others in graph.items()})
    place = {joint: k for k, joint in enumerate(itertools.chain(*chosen, left))}
    joints = sorted(graph)
    pairs = start = _pairs(graph, place)
    levels = []
    for pivots in chosen:
        graph, after = _eliminate(graph, pivots), joints
        joints = [joint for joint in joints if joint in graph]
        following = _pairs(graph, place)
        levels.append(_level(after, pairs, pivots, joints, following))
        pairs = following
    number = {joint: k for k, joint in enumerate(joints)}
    count = len(joints)
    last = np.full((count, count), count + len(pairs))
    last[np.arange(count), np.arange(count)] = np.arange(count)
    for k, (row, column) in enumerate(pairs):
        last[number[row], number[column]] = count + k
    return Elimination(start, tuple(levels), last)


def neighbours_of(bodies_of: Sequence[Sequence[int]]) -> Graph:
    """For each joint those that share a body with it."""
    on: dict[int, set[int]] = {}
    for joint, bodies in enumerate(bodies_of):
        for body in bodies:
            on.setdefault(body, set()).add(joint)
    return {joint: set().union(*(on[body] for body in bodies)) - {joint} for joint, bodies in enumerate(bodies_of)}


def _choose_levels(graph: Graph) -> tuple[list[list[int]], list[int]]:
    """Pivots of each level, and what is left."""
    levels = []
    while len(graph) > FEW:
        fewest = min(len(others) for others in graph.values())
        pivots: list[int] = []
        taken: set[int] = set()
        for joint in sorted(graph, key=lambda joint: (len(graph[joint]), joint)):
            if len(graph[joint]) > max(2 * fewest, 2):
                break
            if joint not in taken:
                pivots.append(joint)
                taken |= graph[joint]
        if len(pivots) < SHARE * len(graph):
            break
        levels.append(sorted(pivots))
        graph = _eliminate(graph, pivots)
    return levels, sorted(graph)


def _eliminate(graph: Graph, pivots: Sequence[int]) -> Graph:
    gone = set(pivots)
    after = {joint: others - gone for joint, others in graph.items() if joint not in gone}
    for pivot in pivots:
        for joint in graph[pivot]:
            after[joint] |= graph[pivot] - {joint}
    return after


def _pairs(graph: Graph, place: dict[int, int]) -> tuple[tuple[int, int], ...]:
    """Neighbours, the one that is eliminated later first."""
    return tuple((a, b) for a in sorted(graph) for b in sorted(graph[a]) if place[a] > place[b])


def _level(joints, pairs, pivots, rest, following) -> Level:
    """From joints and pairs of this level to those of the next one, `rest` and `following`."""
    number, new = ({joint: k for k, joint in enumerate(of)} for of in (joints, rest))
    block = {pair: len(joints) + k for k, pair in enumerate(pairs)} | {(joint, joint): k for joint, k in number.items()}
    zero = len(joints) + len(pairs)
    others = [[a for a, b in pairs if b == pivot] for pivot in pivots]
    width, count = max(map(len, others), default=0), len(pivots)
    neighbours = np.full((width, count), len(rest))
    beside = np.full((width, count), zero)
    targets = [(joint, joint) for joint in rest] + list(following)
    products: dict[tuple[int, int], list[int]] = {target: [] for target in targets}
    received: dict[int, list[int]] = {joint: [] for joint in rest}
    for b, (pivot, near) in enumerate(zip(pivots, others, strict=True)):
        for k, joint in enumerate(near):
            neighbours[k, b], beside[k, b] = new[joint], block[joint, pivot]
            received[joint].append(k * count + b)
            for l, other in enumerate(near):
                if (joint, other) in products:
                    products[joint, other].append((k * width + l) * count + b)
    merge = {joint: new[joint] if joint in new else len(rest) + pivots.index(joint) for joint in joints}
    return Level(
        pivots=np.array([number[joint] for joint in pivots]),
        rest=np.array([number[joint] for joint in rest], int),
        neighbours=neighbours,
        beside=beside,
        keep=np.array([block.get(target, zero) for target in targets], int),
        updates=stacked(products.values(), count * width**2),
        receives=stacked(received.values(), count * width),
        merge=np.array([merge[joint] for joint in joints]),
    )
