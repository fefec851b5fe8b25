"""The 13 × 13 grid of starting hands in a terminal, each cell split by its action frequencies.

Suited hands are above the diagonal, offsuit ones below. A cell is two lines high: its name, and a bar. The
bar's length is the weight of the cell's hands at this node, relative to the heaviest cell. With colours the
bar is exact to an eighth of a column; without colours, letters stand for the actions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from rich.console import Console
from rich.style import Style
from rich.text import Text

from game.cards import NUM_RANKS
from game.hands import HAND_CLASS, NUM_CLASSES, class_text
from numeric.arrays import F64, I64

_CELLS = (3, 8)  # narrowest and widest
_TEXT_CELL = 5
_EIGHTHS = " ▏▎▍▌▋▊▉"
_EMPTY, _ABSENT = "#2a2d33", "#666c77"
_DUST = 0.005  # cells below this share of the heaviest one are residue of an imperfectly converged solve
_FOLD, _PASSIVE, _ALL_IN = "#3a6ea5", "#4f9d69", "#7d1d5a"
_BETS = ("#e9b44c", "#e07f3b", "#cf4a36", "#a92738", "#8c1c3f", "#741547")


@dataclass(frozen=True, slots=True)
class Cells:
    """The grid's contents. Classes are `row * 13 + column`, as in `game.hands`."""

    weight: F64
    """float64[169]: 0..1, mean weight of the class's hands relative to the heaviest class."""
    shares: F64
    """float64[169, A]: frequency of each action; meaningless in rows of weight 0."""


def gather_cells(labels: I64, weight: F64, strategy: F64) -> Cells:
    """Aggregate single hands into cells.

    labels    int[H]         hands 0..1325
    weight    float64[H]     each hand's weight in the range
    strategy  float64[A, H]
    """
    classes = HAND_CLASS[labels]
    totals = np.bincount(classes, weight, NUM_CLASSES)
    counts = np.bincount(classes, minlength=NUM_CLASSES)
    shares = np.stack([np.bincount(classes, weight * row, NUM_CLASSES) for row in strategy], axis=1)
    means = totals / np.maximum(counts, 1)
    fullest = means.max()
    return Cells(means / (fullest if fullest > 0 else 1), shares / np.where(totals > 0, totals, 1)[:, None])


def action_colours(words: tuple[str, ...]) -> tuple[str, ...]:
    """A colour for each action: fold blue, check and call green, bets darker red with size."""
    bets = [word for word in words if word[0] in "br"]
    step = max(1, (len(_BETS) - 1) // max(1, len(bets)))
    colours = {"f": _FOLD, "x": _PASSIVE, "c": _PASSIVE, "a": _ALL_IN}
    return tuple([colours.get(word) or _BETS[min(bets.index(word) * step, len(_BETS) - 1)] for word in words])


def action_letters(words: tuple[str, ...]) -> tuple[str, ...]:
    """A letter for each action: f, x, c, a, and 1, 2, 3 for bets by size."""
    bets = [word for word in words if word[0] in "br"]
    return tuple([word if word in "fxca" else "123456789"[min(bets.index(word), 8)] for word in words])


def has_colours(console: Console) -> bool:
    """Whether the console shows colours."""
    return console.color_system is not None and not console.no_color


def show_grid(console: Console, cells: Cells, colours: tuple[str, ...], letters: tuple[str, ...]) -> None:
    """Print the grid in colours if the console has them, in letters otherwise."""
    if has_colours(console):
        console.print(coloured_grid(cells, colours, console.width))
    else:
        console.print(Text(plain_grid(cells, letters), no_wrap=True))


def action_mark(console: Console, colour: str, letter: str) -> Text:
    """The legend mark of an action: its colour or its letter."""
    return Text("  ", f"on {colour}") if has_colours(console) else Text(letter)


def coloured_grid(cells: Cells, colours: tuple[str, ...], width: int = 80) -> Text:
    """The grid for a terminal with colours: 26 lines, as wide as fits."""
    grid = Text(no_wrap=True)
    cell = min(max((width + 1) // NUM_RANKS - 1, _CELLS[0]), _CELLS[1])
    for row in range(NUM_RANKS):
        classes = range(row * NUM_RANKS, (row + 1) * NUM_RANKS)
        for with_name in (True, False):
            for c in classes:
                name = class_text(c) if with_name else ""
                _coloured_line(grid, name, cells.weight[c], cells.shares[c], colours, cell)
                grid.append(" ")
            grid.right_crop(1)
            grid.append("\n")
    return grid


def plain_grid(cells: Cells, letters: tuple[str, ...]) -> str:
    """The grid in letters: 26 lines of 13 * 6 - 1 columns."""
    lines = []
    for row in range(NUM_RANKS):
        classes = range(row * NUM_RANKS, (row + 1) * NUM_RANKS)
        names = [
            class_text(c).ljust(_TEXT_CELL) if cells.weight[c] >= _DUST else " " * _TEXT_CELL for c in classes
        ]
        bars = [_letter_bar(cells.weight[c], cells.shares[c], letters) for c in classes]
        lines += [" ".join(names).rstrip(), " ".join(bars).rstrip()]
    return "\n".join(lines) + "\n"


def share_bar(console: Console, share: float, width: int, colour: str) -> Text:
    """A bar for a share 0..1, of block characters if the console has no colours."""
    if not has_colours(console):
        return Text("█" * round(share * width), no_wrap=True)
    line = Text(no_wrap=True)
    _coloured_line(line, "", 1.0, np.array([share, 1 - share]), (colour, _EMPTY), width)
    return line


def _coloured_line(
    line: Text, name: str, weight: float, shares: F64, colours: tuple[str, ...], width: int
) -> None:
    edges = np.concatenate([np.cumsum(shares) * weight * width, [float(width)]])
    palette = (*colours, _EMPTY)
    if weight < _DUST:
        line.append(name.ljust(width), Style(color=_ABSENT))
        return
    for column in range(width):
        first = int(np.searchsorted(edges, column + 1e-9, side="right"))
        first = min(first, len(palette) - 1)
        filled = min(float(edges[first]) - column, 1.0)
        following = min(int(np.searchsorted(edges, column + 1 - 1e-9, side="left")), len(palette) - 1)
        char = name[column] if column < len(name) else ""
        if char:
            back = palette[first] if filled >= 0.5 else palette[following]
            line.append(char, Style(color=_ink(back), bgcolor=back, bold=back != _EMPTY))
            continue
        eighths = round(filled * 8)
        if eighths in (0, 8) or first == following:
            line.append(" ", Style(bgcolor=palette[following if eighths == 0 else first]))
        else:
            line.append(_EIGHTHS[eighths], Style(color=palette[first], bgcolor=palette[following]))


def _ink(back: str) -> str:
    """Black or white, whichever has the better contrast on the background colour."""
    red, green, blue = (int(back[i : i + 2], 16) for i in (1, 3, 5))
    return "#101114" if 0.299 * red + 0.587 * green + 0.114 * blue > 140 else "#f4f5f7"


def _letter_bar(weight: float, shares: F64, letters: tuple[str, ...]) -> str:
    """A bar of letters in proportion; left-over columns go to the actions with the largest remainder."""
    if weight < _DUST:
        return "·".ljust(_TEXT_CELL)
    filled = max(1, round(weight * _TEXT_CELL))
    exact = shares * filled
    counts = np.floor(exact + 1e-9).astype(int)
    for a in np.argsort(counts - exact)[: filled - counts.sum()]:
        counts[a] += 1
    return "".join([letter * count for letter, count in zip(letters, counts, strict=True)]).ljust(_TEXT_CELL)
