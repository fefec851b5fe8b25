from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.pool.fair_queue import FairQueue


def drain(queue: FairQueue[str]) -> list[str]:
    return [queue.pop() for _ in range(len(queue))]


def test_keys_take_turns_and_each_keeps_its_order() -> None:
    queue: FairQueue[str] = FairQueue(10)
    for item in ("a1", "a2", "a3", "b1", "c1", "c2"):
        assert queue.put(item[0], item) is None
    assert drain(queue) == ["a1", "b1", "c1", "a2", "c2", "a3"]
    with pytest.raises(IndexError):
        queue.pop()


def test_a_returned_item_is_next_even_if_the_queue_is_full() -> None:
    queue: FairQueue[str] = FairQueue(2)
    queue.put("a", "a1")
    queue.put("b", "b1")
    queue.put_back("c", "c0")
    assert drain(queue) == ["c0", "a1", "b1"]


def test_a_full_queue_evicts_from_the_longest_key() -> None:
    queue: FairQueue[str] = FairQueue(3)
    for item in ("a1", "a2", "a3"):
        queue.put("a", item)
    assert queue.put("a", "a4") == "a4"
    assert queue.put("b", "b1") == "a3"
    assert queue.put("b", "b2") == "b2"  # two and one is as even as three can be
    assert drain(queue) == ["a1", "b1", "a2"]


def test_a_queue_without_capacity_rejects_everything() -> None:
    queue: FairQueue[str] = FairQueue(0)
    assert queue.put("a", "a1") == "a1"
    assert len(queue) == 0


def test_removed_items_are_gone() -> None:
    queue: FairQueue[str] = FairQueue(5)
    for item in ("a1", "a2", "b1"):
        queue.put(item[0], item)
    assert queue.remove("a", "a1")
    assert not queue.remove("a", "a1")
    assert not queue.remove("z", "a2")
    assert drain(queue) == ["a2", "b1"]


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.booleans()), max_size=60), st.integers(0, 6))
def test_no_item_is_lost_or_duplicated_and_the_capacity_holds(
    steps: list[tuple[str, bool]], room: int
) -> None:
    queue: FairQueue[int] = FairQueue(room)
    inside: set[int] = set()
    for number, (key, pops) in enumerate(steps):
        if pops and inside:
            inside.remove(queue.pop())
        else:
            inside.add(number)
            evicted = queue.put(key, number)
            if evicted is not None:
                inside.remove(evicted)
        assert len(queue) == len(inside) <= room
