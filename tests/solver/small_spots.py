"""Small spots for tests."""

from __future__ import annotations

import numpy as np

from game.cards import parse_cards
from game.ranges import parse_range
from solver.games.spot import Spot, street_spot

FEW_HANDS = "AsKs,AdKh,QhQc,QdJd,JhTh,7s7c,4d4h,KcQs,9s8s"


def river_spot(menu: str = "50%, a | a", oop: str = FEW_HANDS, ip: str = FEW_HANDS) -> Spot:
    return small_spot("AhKd7h4c2s", 100, 400, menu, oop, ip)


def turn_spot(menu: str = "50%, a | a") -> Spot:
    return small_spot("AhKd7h4c", 100, 400, menu)


def small_spot(
    board: str, pot: int, behind: int, menu: str, oop: str = FEW_HANDS, ip: str = FEW_HANDS
) -> Spot:
    ranges = np.stack([parse_range(oop), parse_range(ip)])
    return street_spot(parse_cards(board), pot, behind, menu, ranges)
