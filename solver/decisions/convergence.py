"""Defines converged solutions, and their description for users: in one place for every command and page.

A solution is not converged if its exploitability is more than `CONVERGED_PCT` % of the pot: frequencies and
values may change with more iterations. On turn and river exploitability is exact; before them it is an
estimate, of the street alone. It always refers to the solved game: bets outside its menu are not included.
"""

from __future__ import annotations

from dataclasses import dataclass

from solver.decisions.decision import Decision, Method

CONVERGED_PCT = 2.0
"""Largest exploitability of a converged solution, in % of the pot at the root of the solve.

That root is before the opponent's last action, so the opponent's bet is not part of this pot.

Turns and rivers converge within their default time (docs/agent.md); flops solved for a second or two may not.
"""

_LOOKED_UP = {
    Method.BLUEPRINT: "looked up in the blueprint, nothing was solved",
    Method.BOOK: "looked up in the flop book, nothing was solved now",
}


@dataclass(frozen=True, slots=True)
class Convergence:
    """Whether a solution has converged, with a description."""

    converged: bool | None
    """None if nothing was solved or exploitability was not measured."""
    quality: str
    """The same in a sentence for users."""


def judge(method: Method | None, exploitability_pct: float | None) -> Convergence:
    """Judge a solution by its method and exploitability.

    method              None if there is no solution at all: a fallback
    exploitability_pct  in % of the pot; None if not measured
    """
    if method is None:
        return Convergence(None, "neither solved nor looked up: there was no time")
    if method in _LOOKED_UP:
        return Convergence(None, _LOOKED_UP[method])
    if exploitability_pct is None:
        return Convergence(None, "solved: how exploitable it is was not measured")
    about = "about " if method is Method.DEPTH_LIMITED else ""
    # Sampling and rounding errors may make it negative.
    told = f"exploitable for {about}{max(exploitability_pct, 0.0):.2f} % of the pot"
    if method is Method.SAFE:
        # It does not go to 0: the values promised to the opponent limit our strategy.
        told += ", the price of safety included"
    if exploitability_pct <= CONVERGED_PCT:
        return Convergence(True, f"solved: {told}")
    return Convergence(False, f"not converged: {told}")


def judge_decision(decision: Decision, exploitability: float | None) -> Convergence:
    """Judge a decision with `decision.exploitability()`, which takes time: compute it once."""
    share = None if exploitability is None else decision.percent_of_pot(exploitability)
    return judge(decision.method, share)
