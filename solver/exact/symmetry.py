"""Merges river cards that differ only by a relabelling of suits, so that each is solved once.

If the root's board and both ranges are unchanged by a relabelling of suits, so is the game, and a river card
plays like its images with relabelled hands. Of each set of such cards only the first is kept: a *merged* game
has fewer boards, and each of them stands for its images (`games.layout.Boards.image`).

1. Only games of two rounds (turn and river) are merged; others are returned unchanged.
2. Everything else that shapes a solve must be symmetric, too: do not lock nodes of a merged game to
   asymmetric strategies, and do not give its gadget asymmetric alternatives.
3. `unmerged` restores the whole game with all its tables, to look at every board; `remerged` reverses it
   without loss. Both drop a gadget.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from abstraction.isomorphism import HAND_UNDER, NUM_RELABELLINGS, RELABELLINGS
from game.cards import NUM_CARDS, NUM_SUITS
from game.hands import NUM_HANDS
from numeric.arrays import F32, I64
from solver.exact.solver import Solver
from solver.games.game import Game
from solver.games.layout import Boards


def merged(game: Game) -> Game:
    """The hold'em game with one river card of each kind; the game itself if all cards differ."""
    kinds = _kinds(game)
    if kinds is None:
        return game
    kept, relabelling = kinds
    chosen = np.unique(kept)
    sizes = np.diff(np.append(game.boards.table, game.table_size))[chosen]
    table = np.concatenate([[0], np.cumsum(sizes)])
    images: list[I64] = []
    first_image = [0]
    for b in chosen:
        if b > 0:
            left_out = [other for other in range(1, len(kept)) if kept[other] == b and other != b]
            images += [_hands_under(game, int(relabelling[other])) for other in left_out]
        first_image.append(len(images))
    old = game.boards
    boards = Boards(
        table=table[:-1],
        first_child=np.array([1] + [len(chosen)] * len(chosen), dtype=np.int32),
        position=old.position[chosen],
        pair=old.pair[chosen],
        ends=old.ends[chosen],
        live=old.live[chosen],
        groups=old.groups[chosen],
        first_image=np.array(first_image, dtype=np.int32),
        image=np.array(images, dtype=np.uint16).reshape(-1, game.stride),
    )
    cards = tuple([game.board_cards[b] for b in chosen])
    return replace(game, board_cards=cards, boards=boards, table_size=int(table[-1]))


def unmerged(solver: Solver, game: Game) -> Solver:
    """A solver of the whole `game` in the state of a solver of the merged one."""
    if solver.game is game:
        return solver
    kinds = _kinds(game)
    assert kinds is not None, "a merged game comes from a symmetric one"
    kept, relabelling = kinds
    whole = _follow(solver, game)
    place = {int(b): i for i, b in enumerate(np.unique(kept))}
    for source, target in _tables(solver, whole):
        root_size = int(game.boards.table[1])
        target[:root_size] = source[:root_size]
        for b in range(1, len(kept)):
            rows = _rows(source, solver.game, place[int(kept[b])])
            _rows(target, game, b)[:] = rows[:, _hands_under(game, int(relabelling[b]))]
    return whole


def remerged(solver: Solver, game: Game) -> Solver:
    """A solver of the merged `game` in the state of a solver of the whole one: undoes `unmerged`."""
    if solver.game is game:
        return solver
    kinds = _kinds(solver.game)
    assert kinds is not None, "a merged game comes from a symmetric one"
    part = _follow(solver, game)
    for source, target in _tables(solver, part):
        for place, b in enumerate(np.unique(kinds[0])):
            _rows(target, game, place)[:] = _rows(source, solver.game, int(b))
    return part


def _follow(solver: Solver, game: Game) -> Solver:
    """A solver of another form of a game, with iterations and locks copied but not the tables."""
    other = Solver(game, solver.schedule, solver.engine.threads)
    other.iterations = solver.iterations
    other.frozen[:] = solver.frozen
    return other


def _tables(source: Solver, target: Solver) -> list[tuple[F32, F32]]:
    tables = [(source.regret, target.regret), (source.average, target.average)]
    return [*tables, (source.basis, target.basis)] if source.schedule.predictive else tables


def _rows(table: F32, game: Game, board: int) -> F32:
    ends = np.append(game.boards.table, game.table_size)
    return table[ends[board] : ends[board + 1]].reshape(-1, game.stride)


def _kinds(game: Game) -> tuple[I64, I64] | None:
    """For each board, the board kept for it and the relabelling that leads to it; None if all are kept."""
    if game.tree.num_rounds != 2 or game.num_cards != NUM_CARDS or len(game.boards.image):
        return None
    root = set(game.board_cards[0])
    full = np.zeros((2, NUM_HANDS), dtype=np.float32)
    full[:, game.labels] = game.ranges
    symmetries = [
        r
        for r in range(NUM_RELABELLINGS)
        if {_card_under(r, card) for card in root} == root and (full[:, HAND_UNDER[r]] == full).all()
    ]
    if len(symmetries) == 1:
        return None
    board_of_card = {cards[-1]: b for b, cards in enumerate(game.board_cards) if b > 0}
    kept = np.zeros(len(game.board_cards), dtype=np.int64)
    relabelling = np.zeros(len(game.board_cards), dtype=np.int64)
    for card, b in board_of_card.items():
        kept[b], relabelling[b] = min((board_of_card[_card_under(r, card)], r) for r in symmetries)
    return (kept, relabelling) if len(np.unique(kept)) < len(kept) else None


def _card_under(relabelling: int, card: int) -> int:
    return card // NUM_SUITS * NUM_SUITS + int(RELABELLINGS[relabelling, card % NUM_SUITS])


def _hands_under(game: Game, relabelling: int) -> I64:
    """int64[stride]: place of each hand of a game after a relabelling; padding keeps its place."""
    places = np.arange(game.stride)
    places[: game.num_hands] = np.searchsorted(game.labels, HAND_UNDER[relabelling][game.labels])
    return places
