"""What counts as converged, and how people are told: one place for every command, request and page.

A solution is not converged if a perfect opponent could still win more than `CONVERGED_PCT` % of the pot from
it: frequencies and values may change with more iterations. On turn and river exploitability is exact, before
them an estimate, of the street alone. Each figure is of the game that was solved: bets that its menu leaves
out are not in it.
"""

from __future__ import annotations

from dataclasses import dataclass

from solver.decision import Decision, Method

CONVERGED_PCT = 2.0
"""Most exploitability of a converged solution, in % of the pot where the solve begins.

A decision's solve begins before the opponent's last action: his bet is not part of that pot.

Turns and rivers are below it within their default time (docs/agent.md); flops solved for a second or two may
not be.
"""

_LOOKED_UP = {
    Method.BLUEPRINT: "looked up in the blueprint, nothing was solved",
    Method.BOOK: "looked up in the flop book, nothing was solved now",
}


@dataclass(frozen=True, slots=True)
class Convergence:
    """How far a solution is to be trusted."""

    converged: bool | None
    """None if nothing was solved, or if nobody measured."""
    quality: str
    """The same for people, in a sentence."""


def judge(method: Method | None, exploitability_pct: float | None) -> Convergence:
    """Of a solution found by a method.

    method              None if there is no solution at all: a fallback
    exploitability_pct  in % of the pot; None if nobody measured
    """
    if method is None:
        return Convergence(None, "neither solved nor looked up: there was no time")
    if method in _LOOKED_UP:
        return Convergence(None, _LOOKED_UP[method])
    if exploitability_pct is None:
        return Convergence(None, "solved: how exploitable it is was not measured")
    about = "about " if method is Method.DEPTH_LIMITED else ""
    # Samples and rounding may leave less than nothing.
    told = f"exploitable for {about}{max(exploitability_pct, 0.0):.2f} % of the pot"
    if method is Method.SAFE:
        # Never down to nothing: what the opponent was promised limits what we may do.
        told += ", the price of safety included"
    if exploitability_pct <= CONVERGED_PCT:
        return Convergence(True, f"solved: {told}")
    return Convergence(False, f"not converged: {told}")


def judge_decision(decision: Decision, exploitability: float | None) -> Convergence:
    """Of a decision, with `decision.exploitability()`, which takes time: ask once."""
    share = None if exploitability is None else decision.percent_of_pot(exploitability)
    return judge(decision.method, share)
