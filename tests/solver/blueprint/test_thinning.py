"""Thinned blueprints after the flop: complete strategies over fewer bets."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from solver.blueprint.file import FULL, Blueprint
from solver.exact.cut import cut_tree, thin_tree
from solver.games.tree import CALL_ACTION, DECISION, Tree
from tests.arena.blueprints import WIDE, made_up_blueprint


@pytest.fixture(scope="module")
def blueprint(tmp_path_factory: pytest.TempPathFactory) -> Blueprint:
    return made_up_blueprint(tmp_path_factory.mktemp("blueprints"), WIDE)


def test_thinning_keeps_early_rounds_and_one_bet_later(blueprint: Blueprint) -> None:
    tree, thinning = blueprint.tree, blueprint.thinning
    assert thinning.kept[tree.round < 2].all()
    assert not thinning.kept.all()
    stack = min(blueprint.definition.stacks)
    for node in np.flatnonzero((tree.kind == DECISION) & (tree.round >= 2) & thinning.kept):
        children = tree.children_of(int(node))
        left = [int(tree.action[child]) for child in children if thinning.kept[child]]
        assert CALL_ACTION in left
        assert len(left) >= 2
        assert len([code for code in left if CALL_ACTION < code < stack]) <= 1
        becomes = thinning.becomes[node][: len(children)]
        assert set(becomes.tolist()) == set(range(len(left)))
        # Actions that are kept stay the same.
        kept = [a for a, child in enumerate(children) if thinning.kept[child]]
        assert becomes[kept].tolist() == list(range(len(left)))


def test_thinned_tree_is_consistent(blueprint: Blueprint) -> None:
    whole, thinning = blueprint.tree, blueprint.thinning
    root = int(np.flatnonzero((whole.kind == DECISION) & (whole.round == 2))[0])
    subtree = cut_tree(whole, root)
    kept = thinning.kept[root : root + subtree.num_nodes]
    thin = thin_tree(subtree, kept)
    assert thin.num_nodes == kept.sum() < subtree.num_nodes
    origin = np.flatnonzero(kept)
    histories = [subtree.history_of(int(node)) for node in origin]
    assert [thin.history_of(node) for node in range(thin.num_nodes)] == histories
    for r, rows in enumerate(thin.round_rows):
        inside = np.flatnonzero((thin.kind == DECISION) & (thin.round == r))
        assert _rows(thin, inside) == list(range(rows))


def _rows(tree: Tree, nodes: np.ndarray) -> list[int]:
    return [int(tree.action_row[node]) + a for node in nodes for a in range(len(tree.children_of(int(node))))]


def test_quantised_probabilities_add_up(tmp_path: Path, blueprint: Blueprint) -> None:
    thinning = blueprint.thinning
    node = int(np.flatnonzero((blueprint.tree.kind == DECISION) & (blueprint.tree.round == 3))[0])
    rows, becomes = blueprint.rows(node), thinning.becomes[node]
    moved = np.zeros_like(rows, dtype=np.int64)
    for a, row in enumerate(rows):
        moved[becomes[a]] += row
    assert (moved.sum(axis=0) == FULL).all()
