from __future__ import annotations

import pytest

from abstraction.menu import BetLimits, Menu, MenuError, parse_menu, parse_menu_book, raise_targets

OPEN = BetLimits(pot=1000, max_spent=500, round_start=500, min_raise_to=600, stack=10_000)
FACING = BetLimits(pot=2000, max_spent=1000, round_start=500, min_raise_to=1500, stack=10_000)


@pytest.mark.parametrize(
    ("text", "limits", "targets"),
    [
        ("50%, 100%, a", OPEN, (1000, 1500, 10_000)),
        ("100%, a", FACING, (3000, 10_000)),
        ("3x", FACING, (2000,)),  # three times the bet of 500
        ("750c", OPEN, (1250,)),
        ("min", FACING, (1500,)),
        ("1%", OPEN, (600,)),  # too small becomes the least legal raise
        ("950%, a, 2000%", OPEN, (10_000,)),  # too large becomes all-in, once
        ("50%, a<950%", OPEN, (1000, 10_000)),  # 9,500 more, into a pot of 1,000
        ("50%, a<900%", OPEN, (1000,)),
        ("-", OPEN, ()),
        ("", OPEN, ()),
    ],
)
def test_targets(text: str, limits: BetLimits, targets: tuple[int, ...]) -> None:
    assert raise_targets(parse_menu(text).bets, limits) == targets


def test_minimum_raise_above_the_stack_is_all_in() -> None:
    short = BetLimits(pot=2000, max_spent=1000, round_start=0, min_raise_to=2000, stack=1300)
    assert raise_targets(parse_menu("min, 50%").bets, short) == (1300,)


def test_raises_follow_bets_unless_given() -> None:
    assert parse_menu("50%, a") == Menu(parse_menu("50%, a").bets, parse_menu("50%, a").bets)
    split = parse_menu("50%, a | a")
    assert str(split) == "50%, a | a"
    assert parse_menu(str(split)) == split
    assert str(parse_menu("33.5% , 2.5X 300c min a<250% | -")) == "33.5%, 2.5x, 300c, min, a<250% | -"


def test_reraises_have_their_own_part() -> None:
    menu = parse_menu("50%, 100% | 100%, a | a | -")
    assert [str(Menu(menu.sizes(made), menu.sizes(made))) for made in range(6)] == [
        "50%, 100%", "100%, a", "a", "-", "-", "-",
    ]  # fmt: skip
    assert parse_menu(str(menu)) == menu
    assert parse_menu("50%").sizes(3) == parse_menu("50%").bets
    assert parse_menu("50% | a").sizes(3) == parse_menu("a").bets


def test_book_prefers_the_more_specific_name() -> None:
    book = parse_menu_book("10%; turn: 20%; river: 30%; river.ip: 40%")
    sizes = {(street, seat): str(book.menu(street, seat)) for street in (1, 2, 3) for seat in (0, 1)}
    assert sizes == {
        (1, 0): "10%", (1, 1): "10%", (2, 0): "20%", (2, 1): "20%", (3, 0): "30%", (3, 1): "40%",
    }  # fmt: skip


def test_a_semicolon_at_the_end_changes_nothing() -> None:
    assert parse_menu_book("50%, a; river: a;") == parse_menu_book("50%, a; river: a")


@pytest.mark.parametrize("text", ["50", "x", "-5%", "0%", "50%%", "nan%", "inf%", "5a", "a|b|c"])
def test_bad_sizes_are_refused(text: str) -> None:
    with pytest.raises(MenuError):
        parse_menu(text)


@pytest.mark.parametrize("text", ["ocean: a", "river.sb: a", "river: a; river: 50%", "a; 50%"])
def test_bad_names_are_refused(text: str) -> None:
    with pytest.raises(MenuError):
        parse_menu_book(text)
