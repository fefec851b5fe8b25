"""Blueprint against blueprint in a kernel: plays exactly the same pairs as `arena.duplicate.pairs`.

The rules are those of `game.betting` for no-limit hold'em with equal stacks. Buckets come from whole-board
tables. Each player follows the real hand in its own tree, with its own translation.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from rich.progress import Progress

from abstraction.tables import BucketTables, fill_deal_buckets, open_tables
from arena.duplicate.pairs import HAND_KEY, SEED_MASK, draw_cards
from arena.players.base import HANDS_PER_PAIR
from arena.players.blueprint_player import BlueprintPlayer
from arena.players.play_style import StyleNumbers, style_weights
from game.betting import MAX_ACTIONS_PER_ROUND
from game.cards import NUM_CARDS
from game.definition import HUNL, NUM_PLAYERS, UNLIMITED_RAISES, GameDefinition
from numeric.arrays import I64, U8, U16, U64
from numeric.draws import seed_at, unit_at
from numeric.jit import kernel
from solver.blueprint.walk import (
    CHOICE_KEY,
    KEYS_PER_ACTION,
    OFF_TREE,
    TRANSLATION_KEY,
    WalkTree,
    abstract_call,
    abstract_raise,
    real_total,
)
from solver.games.tree import CALL_ACTION, DECISION, FOLD_ACTION
from solver.training.deals import DEALT, deal_winner

_ROUNDS = 4
_MOST_TEXT = 8192
"""Upper bound on the bytes of a pair's line: two hands of four rounds of 64 actions of 11 characters."""
_MOST_ACTIONS = 64
_USUAL_TEXT = 96
_ZERO, _SPACE, _NEWLINE, _SLASH, _MINUS = 48, 32, 10, 47, 45
_F, _C, _R = 102, 99, 114


class KernelPlayer(NamedTuple):
    """A blueprint player in the form kernels take."""

    tree: WalkTree
    base: I64
    """int64[N]: where a decision node's bytes start."""
    strategy: U8
    num_buckets: I64
    """int64[4]"""
    style: StyleNumbers
    tables: BucketTables


class Rules(NamedTuple):
    """Stack and blinds of no-limit hold'em with equal stacks."""

    stack: int
    big_blind: int
    small_blind: int


class FastDuel:
    """A match between two blueprint players. Safe to share between threads."""

    def __init__(
        self, players: tuple[BlueprintPlayer, BlueprintPlayer], seed: int, progress: Progress | None = None
    ) -> None:
        definition = players[0].blueprint.definition
        self._rules = Rules(definition.stacks[0], definition.blinds[0], definition.blinds[1])
        self._players = [kernel_player(player, progress) for player in players]
        self._seed = np.uint64(seed & SEED_MASK)

    def play(self, first: int, count: int) -> str:
        """Play pairs `first`..`first + count - 1` and return their lines; releases the GIL."""
        return b"".join(self._parts(first, count)).decode("ascii")

    def _parts(self, first: int, count: int) -> Iterator[bytes]:
        text = np.empty(_USUAL_TEXT * count + _MOST_TEXT, dtype=np.uint8)
        last = first + count
        while first < last:
            first, used = play_pairs(
                self._players[0], self._players[1], self._rules, self._seed, first, last, text
            )
            yield text[:used].tobytes()


def can_play_fast(definition: GameDefinition, players: tuple[object, object]) -> bool:
    """Whether both are blueprint players and the kernel supports the game."""
    return (
        definition.no_limit
        and definition.stacks[0] == definition.stacks[1]
        and definition.blinds[0] >= definition.blinds[1]
        and set(definition.max_raises) == {UNLIMITED_RAISES}
        and (definition.first_player, definition.board_cards) == (HUNL.first_player, HUNL.board_cards)
        and definition.deck == HUNL.deck
        and all(isinstance(p, BlueprintPlayer) and p.blueprint.definition == definition for p in players)
    )


def kernel_player(player: BlueprintPlayer, progress: Progress | None = None) -> KernelPlayer:
    """Convert a player for the kernel; blocks while missing bucket tables are built."""
    blueprint = player.blueprint
    if np.diff(blueprint.tree.first_child).max() > _MOST_ACTIONS:
        raise ValueError(f"{player.name}: a node has more than {_MOST_ACTIONS} actions, the most supported")
    return KernelPlayer(
        player.walk.tree,
        np.asarray(blueprint.base),
        np.asarray(blueprint.bytes),
        np.array(blueprint.num_buckets, dtype=np.int64),
        player.numbers,
        open_tables(blueprint.cards, progress=progress),
    )


@kernel
def play_pairs(
    player_a: KernelPlayer,
    player_b: KernelPlayer,
    rules: Rules,
    seed: np.uint64,
    first: int,
    last: int,
    text: U8,
) -> tuple[int, int]:
    """Play pairs from `first` until `last` or until the text is full; returns the next pair, bytes written.

    text  uint8[_MOST_TEXT or more]  out: a line per pair
    """
    cards = np.empty(NUM_CARDS, dtype=np.uint8)
    hands, seeds = np.empty(2, dtype=np.int64), np.empty(2, dtype=np.uint64)
    buckets = np.empty((2, 2, _ROUNDS), dtype=np.uint16)  # player, position, round
    weights = np.empty(_MOST_ACTIONS, dtype=np.int64)
    at = 0
    while first < last and at + _MOST_TEXT <= text.shape[0]:
        pair = seed_at(seed, first)
        for i in range(NUM_CARDS):
            cards[i] = i
        draw_cards(pair, cards, DEALT)
        for p in range(2):
            low, high = min(cards[2 * p], cards[2 * p + 1]), max(cards[2 * p], cards[2 * p + 1])
            hands[p] = np.int64(high) * (np.int64(high) - 1) // 2 + np.int64(low)
        fill_deal_buckets(player_a.tables, cards[4:DEALT], hands, buckets[0])
        fill_deal_buckets(player_b.tables, cards[4:DEALT], hands, buckets[1])
        winner = deal_winner(cards)
        at = _write_number(first, text, at)
        for swapped in range(HANDS_PER_PAIR):
            for p in range(2):
                seeds[p] = seed_at(pair, HAND_KEY + NUM_PLAYERS * swapped + p)
            text[at] = _SPACE
            at = _play_hand(player_a, player_b, rules, swapped, seeds, buckets, winner, weights, text, at + 1)
        text[at] = _NEWLINE
        at += 1
        first += 1
    return first, at


@kernel
def _play_hand(
    player_a: KernelPlayer,
    player_b: KernelPlayer,
    rules: Rules,
    swapped: int,
    seeds: U64,
    buckets: U16,
    winner: int,
    weights: I64,
    text: U8,
    at: int,
) -> int:
    """Play a hand and write its betting, A's chips and the stake; returns where the text ends.

    swapped  1 if A has position 1
    seeds    uint64[2] by player; buckets uint16[2, 2, 4] by player, position, round
    winner   1 position 0, -1 position 1, 0 neither
    """
    spent_0, spent_1 = rules.big_blind, rules.small_blind
    faced, min_raise_to = rules.big_blind, 2 * rules.big_blind
    round_index, acted, index, actor = 0, 0, 0, 1
    node_a, node_b = 0, 0
    while True:
        own, other = (spent_0, spent_1) if actor == 0 else (spent_1, spent_0)
        can_raise = other < rules.stack and faced < rules.stack and acted + 2 <= MAX_ACTIONS_PER_ROUND
        least = min(min_raise_to, rules.stack)
        if actor == swapped:
            code = _choose(
                player_a, node_a, seeds[0], buckets[0, actor, round_index], round_index, index, faced > own,
                can_raise, faced, least, rules.stack, weights,
            )  # fmt: skip
        else:
            code = _choose(
                player_b, node_b, seeds[1], buckets[1, actor, round_index], round_index, index, faced > own,
                can_raise, faced, least, rules.stack, weights,
            )  # fmt: skip
        if code == FOLD_ACTION:
            text[at] = _F
            stake = own
            chips = -own if actor == 0 else own
            at += 1
            break
        node_a = _follow(player_a.tree, node_a, code, seeds[0], index, faced, least, rules.stack)
        node_b = _follow(player_b.tree, node_b, code, seeds[1], index, faced, least, rules.stack)
        index += 1
        if code == CALL_ACTION:
            text[at] = _C
            at += 1
            own = faced
        else:
            text[at] = _R
            at = _write_number(code, text, at + 1)
            min_raise_to = max(min_raise_to, 2 * code - faced)
            own = faced = code
        if actor == 0:
            spent_0 = own
        else:
            spent_1 = own
        if code == CALL_ACTION and (acted > 0 or other >= rules.stack):
            if round_index == _ROUNDS - 1 or other >= rules.stack:
                for _ in range(round_index, _ROUNDS - 1):
                    text[at] = _SLASH
                    at += 1
                stake = faced
                chips = winner * faced
                break
            text[at] = _SLASH
            at += 1
            round_index, acted, actor = round_index + 1, 0, 0
            min_raise_to = faced + max(rules.big_blind, 1)
        else:
            acted, actor = acted + 1, 1 - actor
    text[at] = _SPACE
    at = _write_number(chips if swapped == 0 else -chips, text, at + 1)
    text[at] = _SPACE
    return _write_number(stake, text, at + 1)


@kernel
def _choose(
    player: KernelPlayer,
    node: int,
    seed: np.uint64,
    bucket: int,
    round_index: int,
    index: int,
    can_fold: bool,
    can_raise: bool,
    faced: int,
    least: int,
    most: int,
    weights: I64,
) -> int:
    """Choose a real action, coded as in trees: fold, call, or a raise-to total."""
    if node == OFF_TREE:
        return CALL_ACTION
    tree = player.tree
    first = tree.first_child[node]
    num_actions = tree.first_child[node + 1] - first
    children = tree.children[first : first + num_actions]
    codes = tree.codes[first : first + num_actions]
    where, stride = player.base[node] + bucket, player.num_buckets[round_index]
    for a in range(num_actions):
        weights[a] = player.strategy[where + a * stride]
    total = style_weights(player.style, codes, weights[:num_actions])
    drawn = unit_at(seed, KEYS_PER_ACTION * index + CHOICE_KEY) * float(total)
    a, passed = 0, weights[0]
    while passed <= drawn:
        a += 1
        passed += weights[a]
    code = int(codes[a])
    if code == FOLD_ACTION:
        return FOLD_ACTION if can_fold else CALL_ACTION
    if code == CALL_ACTION or not can_raise:
        return CALL_ACTION
    return real_total(tree, node, int(children[a]), faced, least, most)


@kernel
def _follow(
    tree: WalkTree, node: int, code: int, seed: np.uint64, index: int, faced: int, least: int, most: int
) -> int:
    """The node after a call or raise, or OFF_TREE."""
    if node == OFF_TREE:
        return OFF_TREE
    if code == CALL_ACTION:
        node = abstract_call(tree, node)
    else:
        draw = unit_at(seed, KEYS_PER_ACTION * index + TRANSLATION_KEY)
        node = abstract_raise(tree, node, code, faced, least, most, draw)
    if node == OFF_TREE or tree.kind[node] != DECISION:
        return OFF_TREE
    return node


@kernel
def _write_number(value: int, text: U8, at: int) -> int:
    """Write a whole number in decimal; returns where it ends."""
    if value < 0:
        text[at] = _MINUS
        at += 1
        value = -value
    digits, rest = 1, value // 10
    while rest > 0:
        digits += 1
        rest //= 10
    for i in range(digits - 1, -1, -1):
        text[at + i] = _ZERO + value % 10
        value //= 10
    return at + digits
