"""The order of elimination: every joint once, no neighbours together, few levels."""

import numpy as np
import pytest

from jaxmb.elimination import elimination, neighbours_of

CHAIN = tuple((k - 1, k) if k else (0,) for k in range(100))
TREE = tuple(((k - 1) // 2, k) if k else (0,) for k in range(100))
LADDER = (
    *((k,) for k in range(41)),
    *(joint for k in range(40) for joint in ((k, 41 + k), (41 + k, k + 1))),
)
STAR = tuple((0, k) for k in range(1, 30))


@pytest.mark.parametrize("bodies_of", [CHAIN, TREE, LADDER, STAR])
def test_every_joint_is_eliminated_once_and_never_beside_a_neighbour(bodies_of):
    plan = elimination(bodies_of)
    assert sum(plan.sizes) == len(bodies_of)
    graph = neighbours_of(bodies_of)
    left = list(range(len(bodies_of)))
    for level in plan.levels:
        pivots = [left[k] for k in level.pivots]
        assert not any(graph[a] & set(pivots) for a in pivots)
        for pivot in pivots:
            for joint in graph[pivot]:
                graph[joint] |= graph[pivot] - {joint}
        left = [left[k] for k in level.rest]
        graph = {joint: graph[joint] & set(left) for joint in left}
        assert {int(size) for size in (level.merge.size, len(set(level.merge)))} == {len(left) + len(pivots)}


def test_chains_and_ladders_take_a_logarithmic_number_of_levels():
    assert len(elimination(CHAIN).levels) <= 5
    long = tuple((k - 1, k) if k else (0,) for k in range(1600))
    assert len(elimination(long).levels) <= len(elimination(CHAIN).levels) + 4
    assert max(level.beside.shape[0] for level in elimination(LADDER).levels) <= 3


def test_a_star_is_one_dense_rest():
    assert elimination(STAR).sizes == (29,)


def test_neighbours_share_a_body():
    assert neighbours_of([(0,), (0, 1), (1, 2), (3,)]) == {0: {1}, 1: {0, 2}, 2: {1}, 3: set()}
    assert elimination(((0,), (0, 1))).pairs == ((1, 0),)
    assert np.array_equal(elimination(((0,), (1,))).last, [[0, 2], [2, 1]])
