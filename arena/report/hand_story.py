"""A hand from the agent's point of view, in Markdown: ranges, values of the actions, decisions."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

import numpy as np

from arena.players.agent_player import AgentHand, AgentPlayer
from arena.players.base import Player
from game.actions import Action, ActionKind
from game.betting import BettingState
from game.cards import NUM_CARDS, cards_text
from game.definition import GameDefinition
from game.hands import HAND_CLASS, NUM_CLASSES, NUM_HANDS, class_text, hand_index, hand_text
from game.state import HandState, new_hand
from solver.decisions.decision import Decision
from solver.equity.all_in import mean_wins
from solver.games.history import betting_states

_STREETS = ("Pre-flop", "Flop", "Turn", "River")
_SEATS = ("in the big blind", "on the button")
_LIKELIEST = 12


@dataclass(frozen=True, slots=True, eq=False)
class Story:
    """A finished hand of the agent."""

    state: HandState
    position: int
    """The agent's position."""
    hand: AgentHand
    opponent: str

    @property
    def chips(self) -> int:
        """Chips that the agent won."""
        return self.state.values()[self.position]


def play_story(agent: AgentPlayer, opponent: Player, definition: GameDefinition, seed: int) -> Story:
    """Deal and play a hand; the agent has the button if the seed is odd."""
    rng = Random(seed)
    cards = rng.sample(range(NUM_CARDS), 4 + definition.board_size(definition.num_rounds - 1))
    state = new_hand(definition, (tuple(cards[:2]), tuple(cards[2:4])), tuple(cards[4:]))
    position = seed % 2
    ours, theirs = agent.start_hand(seed), opponent.start_hand(seed)
    while not state.betting.is_finished:
        actor = state.betting.actor
        state = state.apply((ours if actor == position else theirs).act(state, actor))
    return Story(state, position, ours, opponent.name)


def tell(story: Story) -> str:
    """Describe the hand in Markdown."""
    state, position = story.state, story.position
    own = hand_index(*state.hole[position])
    board = cards_text(state.visible_board) or "none"
    shown = (
        ""
        if not state.betting.is_showdown
        else f"; {story.opponent} showed {cards_text(state.hole[1 - position])}"
    )
    lines = [
        f"# {hand_text(own)} {_SEATS[position]}: {story.chips:+,} chips",
        "",
        f"Against {story.opponent}. Betting `{state.betting.text}`, board {board}{shown}.",
        "",
    ]
    for decision in story.hand.decisions.values():
        lines += [*_tell_decision(decision, own, _taken(state.betting, decision.betting)), ""]
    return "\n".join(lines)


def oddities(story: Story) -> list[str]:
    """Suspicious decisions: folds with over 90 % equity, river calls with under 2 %."""
    found = []
    own = hand_index(*story.state.hole[story.position])
    for decision in story.hand.decisions.values():
        taken, equity = _taken(story.state.betting, decision.betting), _equity(decision, own)
        where = f"{_STREETS[decision.betting.round_index].lower()}, {hand_text(own)}, {decision.betting.text}"
        if taken.kind is ActionKind.FOLD and equity > 0.9:
            found.append(f"folded with {equity:.0%} equity: {where}")
        calls = taken.kind is ActionKind.CALL and decision.betting.to_call > 0
        if calls and decision.betting.round_index == 3 and equity < 0.02:
            found.append(f"called with {equity:.1%} equity: {where}")
    return found


def _tell_decision(decision: Decision, own: int, taken: Action) -> list[str]:
    betting = decision.betting
    values = decision.values()
    exploitability = decision.exploitability()
    quality = (
        "" if exploitability is None else f", exploitable for {exploitability / betting.pot:.2%} of the pot"
    )
    to_call = f", {betting.to_call:,} to call" if betting.to_call else ""
    lines = [
        f"## {_STREETS[betting.round_index]} {cards_text(decision.board)}".rstrip(),
        "",
        f"Pot {betting.pot:,}{to_call}. Equity against the opponent's range: {_equity(decision, own):.0%}.",
        f"The opponent's range, most likely classes first: {_likeliest(decision)}.",
        "",
        "| action | this hand | worth, chips | whole range |",
        "| --- | ---: | ---: | ---: |",
    ]
    rows = zip(
        decision.strategy.actions, decision.strategy.probabilities, decision.frequencies(), strict=True
    )
    for i, (action, row, share) in enumerate(rows):
        worth = "" if values is None or np.isnan(values[i, own]) else f"{values[i, own]:+,.0f}"
        name = describe(action, betting)
        shown = f"**{name}**" if action == taken else name
        lines.append(f"| {shown} | {row[own]:.1%} | {worth} | {share:.1%} |")
    lines += [
        "",
        f"{decision.method.value}, {decision.iterations:,} iterations, {decision.seconds:.2f} s{quality}.",
    ]
    return lines


def describe(action: Action, betting: BettingState) -> str:
    """Describe an action; sizes are totals of the current street, as players say them."""
    if action.kind is ActionKind.FOLD:
        return "fold"
    if action.kind is ActionKind.CALL:
        return f"call {betting.to_call:,}" if betting.to_call else "check"
    if action.raise_to >= min(betting.definition.stacks):
        return "all-in"
    states = betting_states(betting)
    before = next(s.max_spent for s in states if s.round_index == betting.round_index)
    on_street = action.raise_to - (before if betting.round_index else 0)
    return (
        f"raise to {on_street:,}"
        if betting.max_spent > before or not betting.round_index
        else f"bet {on_street:,}"
    )


def _taken(whole: BettingState, at: BettingState) -> Action:
    """The action that was taken at an earlier point of a hand."""
    done = [action for actions in whole.actions for action in actions]
    return done[sum(len(actions) for actions in at.actions)]


def _equity(decision: Decision, own: int) -> float:
    """A hand's all-in equity against the opponent's believed range."""
    held = np.zeros(NUM_HANDS)
    held[own] = 1.0
    theirs = decision.ranges[1 - decision.betting.actor].astype(np.float64)
    return (1 + mean_wins(held, theirs, decision.board)) / 2


def _likeliest(decision: Decision) -> str:
    weights = np.bincount(
        HAND_CLASS, decision.ranges[1 - decision.betting.actor].astype(np.float64), minlength=NUM_CLASSES
    )
    shares = weights / weights.sum()
    best = np.argsort(-shares)[:_LIKELIEST]
    return ", ".join(f"{class_text(int(c))} {shares[c]:.1%}" for c in best)
