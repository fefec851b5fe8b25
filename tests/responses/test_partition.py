from __future__ import annotations

import numpy as np
import pytest

from responses.partition import by_level, by_stage, by_subgame

# 0 (we) -> 1 (they) -> 2, 3 (we) -> 4, 5 (they); 5 is one action of chance further.
PARENT = np.array([-1, 0, 1, 1, 2, 3], dtype=np.int32)
LEVEL = np.array([0, 1, 2, 2, 3, 4], dtype=np.int32)
OURS = np.array([True, False, True, True, False, False])


def where(mask: np.ndarray) -> list[int]:
    return np.flatnonzero(mask).tolist()


def test_levels_are_decided_together() -> None:
    partition = by_level(LEVEL, OURS, depth=1)
    first, second = partition.at(0), partition.at(2)
    assert (where(first.decided), where(first.solved), where(first.seen)) == ([0], [], [0, 1])
    assert (where(second.decided), where(second.solved), where(second.seen)) == ([2, 3], [0], [0, 1, 2, 3, 4])
    assert partition.at(3) is second
    assert partition.before(second) is first
    assert partition.before(first) is None


def test_without_overlap_all_up_to_the_limit_is_decided() -> None:
    partition = by_level(LEVEL, OURS, depth=2, overlap=False)
    assert where(partition.at(0).decided) == [0, 2, 3]
    assert where(partition.at(0).seen) == [0, 1, 2, 3]


def test_subgames_see_their_own_way_only() -> None:
    partition = by_subgame(PARENT, LEVEL, OURS, depth=1)
    left, right = partition.at(2), partition.at(3)
    assert (where(left.decided), where(left.solved), where(left.seen)) == ([2], [0], [0, 1, 2, 4])
    assert where(right.seen) == [0, 1, 3], "chance counts as an action"
    assert left.before is right.before is partition.at(0)
    assert partition.places == [0, 2, 3]


def test_a_growing_trunk_keeps_what_is_off_the_way() -> None:
    partition = by_subgame(PARENT, LEVEL, OURS, depth=1, growing=True)
    left, right = partition.at(2), partition.at(3)
    assert (where(left.solved), where(left.seen)) == ([0], [0, 1, 2, 4])
    assert (where(right.decided), where(right.solved)) == ([3], [0, 2])
    assert where(right.seen) == [0, 1, 2, 3, 4]
    assert right.before is left


def test_a_first_step_without_a_decision_stands_before_several_first_decisions() -> None:
    """1 and 2 follow a choice of the opponent, which is all that the first step sees."""
    parent, ours = np.array([-1, 0, 0], dtype=np.int32), np.array([False, True, True])
    partition = by_subgame(parent, np.array([0, 1, 1], dtype=np.int32), ours, depth=1)
    trunk = partition.before(partition.at(1))
    assert trunk is not None
    assert trunk is partition.before(partition.at(2))
    assert (where(trunk.decided), where(trunk.seen), trunk.root) == ([], [0], None)


def test_stages_are_decided_as_a_whole() -> None:
    """Together, or each subgame by itself; a card comes before 5."""
    stage = np.array([0, 0, 0, 0, 0, 1], dtype=np.int32)
    ours = np.array([True, False, True, True, False, True])
    for together in (True, False):
        partition = by_stage(PARENT, stage, ours, together)
        first, second = partition.at(0), partition.at(5)
        assert partition.at(3) is first
        assert (where(first.decided), where(first.seen)) == ([0, 2, 3], [0, 1, 2, 3, 4])
        assert second.before is first
        assert where(second.solved) == [0, 2, 3], "also what the first decided off the way to the second"
        assert where(second.seen) == [0, 1, 2, 3, 4, 5]
        assert second.root == (None if together else 5)


def test_stages_may_be_skipped() -> None:
    """From 1 cards lead to 2, and past the second stage to 4; 3 is in the second, 5 after it in the third."""
    parent = np.array([-1, 0, 1, 2, 1, 3], dtype=np.int32)
    stage = np.array([0, 0, 1, 1, 2, 2], dtype=np.int32)
    ours = np.array([True, False, False, True, True, True])
    together = by_stage(parent, stage, ours, together=True)
    last = together.at(4)
    assert together.at(5) is last
    assert last.before is together.at(3)
    assert (where(last.decided), where(last.solved), where(last.seen)) == ([4, 5], [0, 3], [0, 1, 2, 3, 4, 5])
    apart = by_stage(parent, stage, ours, together=False)
    assert apart.before(apart.at(4)) is apart.at(0)
    assert (where(apart.at(4).solved), where(apart.at(4).seen)) == ([0], [0, 1, 4])
    assert (where(apart.at(5).solved), where(apart.at(5).seen)) == ([0, 3], [0, 1, 2, 3, 5])


@pytest.mark.parametrize("overlap", [True, False])
def test_a_negative_depth_is_refused(overlap: bool) -> None:
    with pytest.raises(ValueError, match=r"depth -1: a step looks at 0 actions or more"):
        by_level(LEVEL, OURS, -1, overlap)
    with pytest.raises(ValueError, match=r"depth -1"):
        by_subgame(PARENT, LEVEL, OURS, -1)
