"""Small games for the trainer, with known solutions: Kuhn, Leduc, and push or fold."""

from __future__ import annotations

from itertools import permutations

import numpy as np

from abstraction.menu import MenuBook
from game.definition import KUHN, LEDUC, GameDefinition
from game.hands import NUM_CLASSES
from solver.blueprint.abstract_game import TrainingGame, make_training_game
from solver.blueprint.layout import Deals
from solver.games.betting_tree import build_hand_tree
from solver.games.tree import CALL_ACTION, DECISION, FOLD, FOLD_ACTION, NO_ACTION, SHOWDOWN, TreeBuilder


def one_card_game(definition: GameDefinition) -> tuple[TrainingGame, Deals]:
    """A game of one hole card and at most one public card, with all its deals.

    Buckets are lossless: the rank held, then rank held * ranks + rank on the board. A pair with the board
    wins, then the higher rank.
    """
    if definition.num_hole_cards != 1 or definition.board_cards not in ((0,), (0, 1)):
        raise ValueError("one_card_game needs one hole card and at most one board card in the last round")
    ranks, public = definition.num_ranks, definition.num_rounds - 1
    rows, outcomes = [], []
    for cards in permutations(range(ranks * definition.num_suits), 2 + public):
        first, second, *board = [card // definition.num_suits for card in cards]
        rows.append(
            [bucket for own in (first, second) for bucket in (own, *[own * ranks + b for b in board])]
        )
        strengths = [own + ranks * (own in board) for own in (first, second)]
        outcomes.append([np.sign(strengths[0] - strengths[1])] * definition.num_rounds)
    tree = build_hand_tree(definition, MenuBook())
    game = make_training_game(tree, (ranks, ranks * ranks)[: public + 1], float(definition.big_blind))
    return game, Deals(np.array(rows, dtype=np.int32), np.array(outcomes, dtype=np.float32))


def kuhn() -> tuple[TrainingGame, Deals]:
    """Kuhn poker and its six deals."""
    return one_card_game(KUHN)


def leduc() -> tuple[TrainingGame, Deals]:
    """Leduc hold'em and its 120 deals."""
    return one_card_game(LEDUC)


def push_fold(stack: float) -> TrainingGame:
    """Heads-up hold'em in which the small blind goes all-in or folds; stacks in big blinds.

    Deals come from `solver.training.deals.PreflopDealer`.
    """
    builder = TreeBuilder()
    push = builder.add(DECISION, 0, -1, NO_ACTION, player=1)
    builder.add(FOLD, 0, push, FOLD_ACTION, player=1, amount=0.5)
    call = builder.add(DECISION, 0, push, round(stack), player=0)
    builder.add(FOLD, 0, call, FOLD_ACTION, player=0, amount=1.0)
    builder.add(SHOWDOWN, 0, call, CALL_ACTION, amount=stack)
    return make_training_game(builder.finish(), (NUM_CLASSES,), 1.0)
