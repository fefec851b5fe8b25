from __future__ import annotations

from responses.continual import ContinualResponse
from responses.methods import Gadget, Method, cdbr, cdrnr, ses


class Letters:
    """Places are words; before each is the word without its last letter."""

    def at(self, place: str) -> str:
        return place

    def before(self, step: str) -> str | None:
        return step[:-1] or None


class Recorder:
    def __init__(self) -> None:
        self.solved: list[str] = []

    def begin(self) -> tuple[str, ...]:
        return ()

    def solve(self, step: str, before: tuple[str, ...]) -> tuple[str, ...]:
        self.solved.append(step)
        return (*before, step)


def test_a_step_is_solved_after_those_before_it() -> None:
    response = ContinualResponse(Letters(), Recorder())
    assert response.at("abc") == ("a", "ab", "abc")


def test_nothing_is_solved_twice() -> None:
    solver = Recorder()
    response = ContinualResponse(Letters(), solver)
    assert response.at("abc") == ("a", "ab", "abc")
    assert response.at("abd") == ("a", "ab", "abd")
    assert response.at("ab") == ("a", "ab")
    assert solver.solved == ["a", "ab", "abc", "abd"]


def test_methods_by_name() -> None:
    assert cdbr() == cdrnr(1.0) == Method(1.0, Gadget.FULL)
    assert not ses(0.5).model_acts
