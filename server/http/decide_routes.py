"""`/v1/decide`: what the bot does in a given situation, and why. Stateless."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace

from aiohttp import web

from game.betting import BettingState
from game.cards import Cards, cards_text, parse_cards
from game.definition import HUNL
from game.errors import GameError
from game.hands import hand_index, hand_text
from game.state import HandState, hand_state
from numeric.arrays import F32
from protocol.acpc import parse_betting, parse_match_state
from protocol.errors import ProtocolError
from server.decisions import Decider, DecisionAnswer, DecisionRequest
from server.http import fields as read
from server.http.app_keys import CONFIG, DECIDER
from server.http.bodies import answer, read_fields
from server.http.context import caller
from server.http.problems import Problem, bad_request
from solver.agent.time_bank import MatchClock
from solver.games.history import betting_states

LEAST_BUDGET, MOST_BUDGET = 0.01, 600.0
STREETS = ("pre-flop", "flop", "turn", "river")

_SEED_BITS = 63
_FIELDS = {"matchstate", "betting", "board", "hole", "budget", "seed", "range", "explain"}
_METHODS = {
    "blueprint": "looked up in the blueprint",
    "flop book": "looked up in the flop book, which was solved in advance",
    "depth-limited": "solved to the end of the street, with estimated values after it",
    "exact": "solved to the end of the hand",
    "exact, safe": "solved to the end of the hand, by safe re-solving",
}


@dataclass(frozen=True, slots=True)
class _Question:
    state: HandState
    position: int
    budget: float
    seed: int
    whole_range: bool
    explain: bool

    @property
    def hand(self) -> int:
        """The hand held."""
        return hand_index(*self.state.hole[self.position])


def add_decide_routes(app: web.Application) -> None:
    """Add `/v1/decide`."""
    app.router.add_post("/v1/decide", decide)


async def decide(request: web.Request) -> web.Response:
    """Make one decision of one hand."""
    question = _read(await read_fields(request), request.app[CONFIG].agent.budget)
    match = f"decide {caller(request).name or request.remote}"
    made = await _decide(request.app[DECIDER], question, match)
    return answer(request, _body(question, made))


async def _decide(decider: Decider, question: _Question, match: str) -> DecisionAnswer:
    """Decide, after repeating our earlier decisions of the hand: they build the context of this one."""
    betting, position = question.state.betting, question.position
    clock = MatchClock(question.budget)
    clock.start_hand()
    asked = DecisionRequest(
        match=match,
        betting=betting.text,
        board=question.state.visible_board,
        hand=question.hand,
        context=None,
        seed=question.seed,
        seconds=clock.seconds_for(betting),
    )
    states = betting_states(betting)
    taken = [str(action) for part in betting.actions for action in part]
    earlier = [
        (state, action)
        for state, action in zip(states[:-1], taken, strict=True)
        # Before the flop nothing is solved: the agent looks the ranges up by itself.
        if state.actor == position and state.round_index > 0
    ]
    context = None
    for state, action in earlier:
        seconds = clock.seconds_for(state)
        before = await decider.decide(
            replace(
                asked,
                betting=state.text,
                board=asked.board[: HUNL.board_size(state.round_index)],
                context=context,
                seconds=seconds,
                played=action,
            )
        )
        clock.spend(before.seconds)
        context = before.context
    seconds = clock.seconds_for(betting)
    return await decider.decide(replace(asked, context=context, seconds=seconds, explain=question.explain))


def _read(fields: Mapping[str, object], budget: float) -> _Question:
    read.refuse_unknown(fields, _FIELDS)
    given = read.number(fields, "budget", LEAST_BUDGET, MOST_BUDGET)
    seed = read.whole(fields, "seed", 0, 2**_SEED_BITS - 1)
    line = read.text(fields, "matchstate", 4096)
    if line is not None:
        if {"betting", "board", "hole"} & set(fields):
            raise bad_request("give either matchstate, or betting, board and hole", "bad-field")
        state, position = _read_line(line)
    else:
        state, position = _read_parts(fields)
    betting = state.betting
    if betting.is_finished or betting.actor != position:
        raise Problem(422, f"it is not our turn after {betting.text!r}", "not-our-turn")
    return _Question(
        state=state,
        position=position,
        budget=budget if given is None else given,
        seed=secrets.randbits(_SEED_BITS) if seed is None else seed,
        whole_range=read.flag(fields, "range"),
        explain=read.flag(fields, "explain"),
    )


def _read_line(line: str) -> tuple[HandState, int]:
    try:
        match = parse_match_state(line, HUNL)
    except ProtocolError as error:
        raise Problem(422, f"matchstate: {error}", "bad-state") from None
    return match.state, match.position


def _read_parts(fields: Mapping[str, object]) -> tuple[HandState, int]:
    hole_text = read.text(fields, "hole", 20)
    if hole_text is None:
        raise bad_request("hole: is missing: give the cards held, or a matchstate", "bad-field")
    try:
        betting = parse_betting(HUNL, read.text(fields, "betting", 2048) or "")
    except ProtocolError as error:
        raise Problem(422, f"betting: {error}", "bad-state") from None
    position = betting.actor
    if betting.is_finished:
        raise Problem(422, f"no player is to act after {betting.text!r}", "not-our-turn")
    try:
        hole, board = parse_cards(hole_text), parse_cards(read.text(fields, "board", 40) or "")
        state = hand_state(betting, (hole, ()) if position == 0 else ((), hole), board)
        if len(hole) != HUNL.num_hole_cards or len(board) != HUNL.board_size(betting.round_index):
            raise GameError(f"{len(hole)} hole cards and a board of {len(board)} do not fit the betting")
    except GameError as error:
        raise Problem(422, f"cards: {error}", "bad-state") from None
    return state, position


def _body(question: _Question, made: DecisionAnswer) -> dict[str, object]:
    betting, own = question.state.betting, question.hand
    weights = made.ranges[question.position]
    shares = _shares(made.probabilities, weights)
    strategy = {
        name: round(float(row[own]), 4) for name, row in zip(made.actions, made.probabilities, strict=True)
    }
    details = None if made.explanation is None else json.loads(made.explanation)
    body: dict[str, object] = {
        "action": made.action,
        "hand": hand_text(own),
        "strategy": strategy,
        "range_strategy": {
            name: round(float(share), 4) for name, share in zip(made.actions, shares, strict=True)
        },
        "street": STREETS[betting.round_index],
        "method": made.method,
        "rung": made.rung.value,
        "iterations": made.iterations,
        "seconds": round(made.seconds, 3),
        "explanation": _explanation(question, made, strategy) + _quality(details),
    }
    if question.explain:
        body["details"] = details
    if question.whole_range:
        body["range"] = _range_body(made, weights)
    return body


def _shares(probabilities: F32, weights: F32) -> F32:
    shares: F32 = probabilities @ weights / max(float(weights.sum()), 1e-30)
    return shares


def _range_body(made: DecisionAnswer, weights: F32) -> dict[str, object]:
    """Weight and strategy of every hand we might hold; probabilities in the order of `actions`."""
    columns = made.probabilities.T.round(4).tolist()
    return {
        "actions": list(made.actions),
        "hands": {
            hand_text(hand): {"weight": float(f"{weights[hand]:.4g}"), "strategy": columns[hand]}
            for hand in weights.nonzero()[0].tolist()
        },
    }


def _explanation(question: _Question, made: DecisionAnswer, strategy: Mapping[str, float]) -> str:
    betting = question.state.betting
    board = _board_words(question.state.visible_board)
    plays = ", ".join(
        f"{_action_words(name, betting)} {share:.0%}"
        for name, share in sorted(strategy.items(), key=lambda item: -item[1])
        if share >= 0.005
    )
    how = _METHODS.get(made.method, made.method)
    effort = f" in {made.iterations:,} iterations" if made.iterations else ""
    return (
        f"{STREETS[betting.round_index].capitalize()}{board}, {betting.pot:,} in the pot,"
        f" {betting.to_call:,} to call, {hand_text(question.hand)}: {plays or 'no action of its own'};"
        f" {how}{effort}. Drawn: {_action_words(made.action, betting)}."
    )


def _quality(details: Mapping[str, str] | None) -> str:
    """A last sentence on the solve's convergence; empty without details."""
    if details is None:
        return ""
    words = details["quality"]
    return f" {words[:1].upper()}{words[1:]}."


def _board_words(board: Cards) -> str:
    return f" {cards_text(board)}" if board else ""


def _action_words(action: str, betting: BettingState) -> str:
    if action == "f":
        return "fold"
    if action == "c":
        return "call" if betting.to_call else "check"
    if action == f"r{betting.definition.stacks[betting.actor]}":
        return "all-in"
    return f"{'raise' if betting.to_call else 'bet'} to {int(action[1:]):,}"
