"""Paths to nodes of a tree: actions and cards from the root, separated by "/".

    x  check     c  call     f  fold     a  all-in
    b500  r1500  bet or raise to that many chips in this round (the number counts the whole round's chips)
    b50%  r2.5x  bmin        sizes of the menu language, see `abstraction.menu`
    Td           the card that opens the next round; * stands for any card

So "x/b50%/c/Td/x" is: check, bet half the pot, call, ten of diamonds, check. The root is "" or "root".
"""

from __future__ import annotations

from dataclasses import dataclass

from abstraction.menu import BetLimits, MenuError, SizeKind, parse_menu, raise_targets
from game.cards import RANKS, SUITS, cards_text, parse_card
from solver.games.game import Game
from solver.games.spot import Spot
from solver.games.tree import CALL_ACTION, CHANCE, DECISION, FOLD_ACTION, Tree

ROOT = "root"
ANY_CARD = "*"


class PathError(ValueError):
    """A path that leads to no decision; the message says what can be written instead."""


@dataclass(frozen=True, slots=True)
class Place:
    """A node of a spot's tree, and its chips."""

    node: int
    cards: tuple[int, ...]
    """Public cards; only the root's if `any_card`."""
    any_card: bool
    """Whether a card was left open with "*"."""
    spent: tuple[int, int]
    """Chips each player has put in over the hand."""
    round_start: int
    min_raise_to: int
    steps: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        """The path in its shortest form, readable by `find_place`."""
        return "/".join(self.steps) or ROOT


def find_place(spot: Spot, game: Game, path: str) -> Place:
    """The decision node that a path leads to."""
    words = [] if path.strip().lower() in ("", ROOT) else [word.strip() for word in path.split("/")]
    place = _root(spot)
    for word in words:
        place = _step(spot, game, place, word)
    tree = game.tree
    if tree.kind[place.node] == CHANCE and not _is_over(tree, place.node):
        raise PathError(
            f"{_after(place)} the next card comes: add it to the path, e.g. {place.path}/{_unseen(place)}"
        )
    if tree.kind[place.node] != DECISION:
        raise PathError(f"{_after(place)} there is nothing to decide any more: end the path earlier")
    return place


def place_of(spot: Spot, game: Game, node: int) -> Place:
    """The place of a decision node, with all later cards left open."""
    chain = [node]
    while chain[0] > 0:
        chain.insert(0, int(game.tree.parent[chain[0]]))
    place = _root(spot)
    for child in chain[1:]:
        dealt = game.tree.kind[place.node] == CHANCE
        word = ANY_CARD if dealt else _word(spot, place, int(game.tree.action[child]))
        place = _step(spot, game, place, word)
    return place


def action_words(spot: Spot, tree: Tree, place: Place) -> tuple[str, ...]:
    """The word for each action of a decision in a path: 'x', 'b500', 'a'."""
    return tuple([_word(spot, place, action) for action in tree.actions_of(place.node)])


def action_names(spot: Spot, tree: Tree, place: Place) -> tuple[str, ...]:
    """Readable names of the actions of a decision: 'check', 'bet 500', 'all-in 9500'."""
    return tuple([_name(spot, place, action) for action in tree.actions_of(place.node)])


def chips_paid(spot: Spot, place: Place) -> tuple[float, float]:
    """Chips each player has in the pot, including half of the dead money."""
    return spot.root.dead / 2 + place.spent[0], spot.root.dead / 2 + place.spent[1]


def find_action(spot: Spot, tree: Tree, place: Place, word: str) -> int:
    """The index of the action that a word of a path means."""
    actions = tree.actions_of(place.node)
    action = _parse_action(spot, tree, place, word)
    if action not in actions:
        raise PathError(f"{word!r} is not offered {_after(place)}: write one of {_offers(spot, tree, place)}")
    return actions.index(action)


def _root(spot: Spot) -> Place:
    root = spot.root
    start = min(root.spent) if root.round_start is None else root.round_start
    least = max(root.spent) + max(root.big_blind, root.last_raise, 1)
    return Place(0, spot.board, False, root.spent, start, least)


def _step(spot: Spot, game: Game, place: Place, word: str) -> Place:
    tree = game.tree
    if tree.kind[place.node] == CHANCE:
        return _deal(spot, tree, place, word)
    if tree.kind[place.node] != DECISION:
        raise PathError(f"{_after(place)} the hand is over: nothing can follow, not even {word!r}")
    if _is_card(word) or word == ANY_CARD:
        raise PathError(f"{_after(place)} no card comes, but one of {_offers(spot, tree, place)}")
    which = find_action(spot, tree, place, word)
    child = int(tree.children_of(place.node)[which])
    action, actor = int(tree.action[child]), int(tree.player[place.node])
    other = place.spent[1 - actor]
    total = other if action == CALL_ACTION else place.spent[actor] if action == FOLD_ACTION else action
    least = max(place.min_raise_to, 2 * total - other) if action > 0 else place.min_raise_to
    spent = (total, other) if actor == 0 else (other, total)
    steps = (*place.steps, _word(spot, place, action))
    return Place(child, place.cards, place.any_card, spent, place.round_start, least, steps)


def _deal(spot: Spot, tree: Tree, place: Place, word: str) -> Place:
    if _is_over(tree, place.node):
        raise PathError(f"{_after(place)} both players are all-in: nothing is left to decide")
    if word != ANY_CARD and not _is_card(word):
        raise PathError(f"{_after(place)} the next card comes, not {word!r}: write e.g. {_unseen(place)}")
    cards = place.cards
    if word == ANY_CARD:
        step, any_card = ANY_CARD, True
    else:
        card = parse_card(word[0].upper() + word[1].lower())
        if card in cards:
            raise PathError(f"the card {word} is on the board already: {cards_text(cards)}")
        step, any_card, cards = cards_text([card]), place.any_card, (*cards, card)
    start = place.spent[0]
    child = int(tree.children_of(place.node)[0])
    least = start + max(spot.root.big_blind, 1)
    return Place(child, cards, any_card, place.spent, start, least, (*place.steps, step))


def _parse_action(spot: Spot, tree: Tree, place: Place, word: str) -> int:
    lower = word.lower()
    facing = place.spent[1 - int(tree.player[place.node])]
    if lower == "f":
        return FOLD_ACTION
    if lower in ("x", "c"):
        to_call = facing > place.spent[int(tree.player[place.node])]
        if to_call != (lower == "c"):
            situation = "there is a bet to call: write c" if to_call else "there is no bet to call: write x"
            raise PathError(f"{word!r} {_after(place)}: {situation}")
        return CALL_ACTION
    size = lower[1:] if lower[:1] in ("b", "r") else lower
    if size.isdecimal():
        return place.round_start + int(size)
    try:
        (parsed,) = parse_menu(size).bets
    except (MenuError, ValueError):
        raise PathError(
            f"{word!r} is not an action: {_after(place)} write one of {_offers(spot, tree, place)}"
        ) from None
    if parsed.kind is SizeKind.CHIPS:
        return place.round_start + int(parsed.amount)
    limits = BetLimits(
        int(2 * facing + spot.root.dead), facing, place.round_start, place.min_raise_to, spot.root.stack
    )
    return raise_targets((parsed,), limits)[0]


def _word(spot: Spot, place: Place, action: int) -> str:
    if action == FOLD_ACTION:
        return "f"
    if action == CALL_ACTION:
        return "c" if place.spent[0] != place.spent[1] else "x"
    if action == spot.root.stack:
        return "a"
    letter = "r" if max(place.spent) > place.round_start else "b"
    return f"{letter}{action - place.round_start}"


def _name(spot: Spot, place: Place, action: int) -> str:
    in_round = action - place.round_start
    if action == FOLD_ACTION:
        return "fold"
    if action == CALL_ACTION:
        to_call = abs(place.spent[0] - place.spent[1])
        return f"call {to_call}" if to_call else "check"
    if action == spot.root.stack:
        return f"all-in {in_round}"
    return f"raise to {in_round}" if max(place.spent) > place.round_start else f"bet {in_round}"


def _offers(spot: Spot, tree: Tree, place: Place) -> str:
    return ", ".join(action_words(spot, tree, place))


def _after(place: Place) -> str:
    return f"after {place.path}" if place.steps else "at the root"


def _is_card(word: str) -> bool:
    return len(word) == 2 and word[0].upper() in RANKS and word[1].lower() in SUITS


def _is_over(tree: Tree, node: int) -> bool:
    """Whether a chance node only deals the rest of an all-in board."""
    return bool(tree.kind[tree.children_of(node)[0]] != DECISION)


def _unseen(place: Place) -> str:
    return cards_text([next(card for card in range(51, -1, -1) if card not in place.cards)])
