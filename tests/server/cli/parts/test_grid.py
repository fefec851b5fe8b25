from __future__ import annotations

import numpy as np
import pytest
from rich.console import Console

from game.hands import class_text, parse_hand
from server.cli.parts.grid import (
    Cells,
    action_colours,
    action_letters,
    coloured_grid,
    gather_cells,
    plain_grid,
    share_bar,
)

WORDS = ("f", "c", "r200", "r400", "a")


def cell_of(name: str) -> int:
    return next(c for c in range(169) if class_text(c) == name)


def cells_with(name: str, weight: float, shares: list[float]) -> Cells:
    weights, all_shares = np.zeros(169), np.zeros((169, len(shares)))
    weights[cell_of(name)], all_shares[cell_of(name)] = weight, shares
    return Cells(weights, all_shares)


def test_hands_of_a_class_are_averaged_by_weight() -> None:
    labels = np.array([parse_hand(hand) for hand in ("AsKs", "AhKh", "QsQd")])
    cells = gather_cells(labels, np.array([1.0, 0.5, 0.3]), np.array([[1.0, 0.0, 0.5], [0.0, 1.0, 0.5]]))
    assert cells.weight[cell_of("AKs")] == pytest.approx(1.0)
    assert cells.weight[cell_of("QQ")] == pytest.approx(0.4)
    assert cells.shares[cell_of("AKs")].tolist() == pytest.approx([2 / 3, 1 / 3])
    assert cells.shares[cell_of("QQ")].tolist() == pytest.approx([0.5, 0.5])
    assert cells.weight.sum() == pytest.approx(1.4)


def test_an_empty_range_is_an_empty_grid() -> None:
    cells = gather_cells(np.array([0]), np.zeros(1), np.ones((1, 1)))
    assert not cells.weight.any()
    assert set(plain_grid(cells, ("x",))) <= {" ", "·", "\n"}


@pytest.mark.parametrize(
    ("weight", "shares", "bar"),
    [
        (1.0, [1.0, 0.0, 0.0], "xxxxx"),
        (1.0, [0.6, 0.4, 0.0], "xxx11"),
        (1.0, [0.34, 0.33, 0.33], "xx112"),
        (1.0, [0.05, 0.95, 0.0], "11111"),
        (0.6, [1.0, 0.0, 0.0], "xxx  "),
        (0.05, [0.0, 0.0, 1.0], "2    "),
    ],
)
def test_letters_are_proportional_to_frequencies(weight: float, shares: list[float], bar: str) -> None:
    lines = plain_grid(cells_with("AA", weight, shares), ("x", "1", "2")).splitlines()
    assert len(lines) == 26
    assert lines[0].startswith("AA")
    assert lines[1].ljust(5)[:5] == bar
    assert max(map(len, lines)) <= 13 * 6 - 1


@pytest.mark.parametrize("width", [40, 80, 100, 120, 200])
def test_the_coloured_grid_fits_the_terminal(width: int) -> None:
    rng = np.random.default_rng(1)
    cells = Cells(rng.random(169), rng.dirichlet(np.ones(5), 169))
    lines = coloured_grid(cells, action_colours(WORDS), width).plain.splitlines()
    assert len(lines) == 26
    assert len({len(line) for line in lines}) == 1
    assert len(lines[0]) <= max(width, 13 * 4 - 1)
    assert lines[0].startswith("AA")


def test_colours_cover_each_action_in_proportion() -> None:
    colours = action_colours(("x", "b50"))
    console = Console(width=120, force_terminal=True, color_system="truecolor")
    for share in (0.0, 0.25, 0.5, 1.0):
        bar = share_bar(console, share, 8, colours[0])
        filled = 0.0
        for segment in bar.render(console):
            back, fore = segment.style.bgcolor, segment.style.color
            if back is not None and back.name == colours[0]:
                filled += len(segment.text)
            elif fore is not None and fore.name == colours[0]:
                filled += " ▏▎▍▌▋▊▉".index(segment.text) / 8
        assert filled == pytest.approx(8 * share, abs=0.07)


def test_actions_are_told_apart() -> None:
    assert action_letters(WORDS) == ("f", "c", "1", "2", "a")
    for words in (WORDS, ("x", "b1", "b2", "b3", "b4", "b5", "a"), ("x", "a"), ("f", "c")):
        assert len(set(action_colours(words))) == len(words)
        assert len(set(action_letters(words))) == len(words)
