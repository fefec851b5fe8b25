"""The flop book: how its entries are made and used."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from abstraction.isomorphism import HAND_UNDER, RELABELLINGS, board_multiplicities, canonical_boards
from game.actions import CALL, raise_to
from game.cards import Cards, parse_cards
from game.definition import HUNL
from game.hands import HAND_CARDS, HAND_CLASS, unblocked
from protocol.acpc import parse_betting
from solver.agent.agent import Agent
from solver.agent.street_solves import _DepthLimited
from solver.blueprint.file import FULL, Blueprint
from solver.decisions.decision import Decision, Method
from solver.decisions.explanation import explain
from solver.decisions.settings import DEFAULT_BOOK, AgentSettings, StreetSettings, make_settings
from solver.flop_book.book import FlopBook, book_folder, book_menu
from solver.flop_book.file import (
    BookError,
    book_path,
    locate,
    open_book_file,
    quantised,
    slot_bytes,
    write_entry,
)
from solver.flop_book.lines import FlopLine, flop_lines
from solver.flop_book.making import (
    flops_in_order,
    flops_share,
    only_maker,
    open_for_making,
    solve_entry,
    tasks_in_order,
)
from solver.games.tree import CALL_ACTION, DECISION
from solver.resolving.context import Context
from tests.arena.blueprints import WIDE, made_up_blueprint

MENU = "100% | a"
STREET = StreetSettings("75% | a", 4, rich_menu=MENU)
ITERATIONS = 6
LINE = "r300c"
FLOP = tuple(parse_cards("Ks8d3c"))


@pytest.fixture(scope="module")
def blueprint(tmp_path_factory: pytest.TempPathFactory) -> Blueprint:
    return made_up_blueprint(tmp_path_factory.mktemp("blueprints"), WIDE)


@pytest.fixture(scope="module")
def line(blueprint: Blueprint) -> FlopLine:
    return next(line for line in flop_lines(blueprint) if line.text == LINE)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, blueprint: Blueprint, line: FlopLine) -> Path:
    """A book of one flop."""
    folder = tmp_path_factory.mktemp("book")
    make(folder, blueprint, line, [locate(FLOP)[0]])
    return folder


def make(folder: Path, blueprint: Blueprint, line: FlopLine, rows: list[int]) -> Path:
    file = open_for_making(folder, line, blueprint, MENU, ITERATIONS)
    for row in rows:
        write_entry(file, row, solve_entry(blueprint, line, row, MENU, ITERATIONS))
    return file.path


def settings(folder: Path | None) -> AgentSettings:
    return AgentSettings(STREET, STREET, STREET, budget=None, book=folder)


def decide(agent: Agent, text: str, board: Cards = FLOP, context: Context | None = None) -> Decision:
    return agent.decide(parse_betting(HUNL, text), board, context, 1)


def relabelled(board: Cards, suits: str) -> tuple[Cards, int]:
    """A board with permuted suits, and the number of the relabelling."""
    number = next(r for r, names in enumerate(RELABELLINGS.tolist()) if "".join(map(str, names)) == suits)
    return tuple([card // 4 * 4 + int(RELABELLINGS[number, card % 4]) for card in board]), number


def test_lines_come_from_the_blueprint(blueprint: Blueprint, line: FlopLine) -> None:
    lines = flop_lines(blueprint)
    assert sum(found.share for found in lines) == pytest.approx(1)
    shares = [found.share for found in lines]
    assert shares == sorted(shares, reverse=True)
    assert len({found.text for found in lines}) == len(lines)
    assert all(found.betting.round_index == 1 for found in lines)
    assert not any("20000" in found.text for found in lines)  # all-in: no more betting
    context = Agent(blueprint, settings(None)).flop_context(parse_betting(HUNL, "r300c/"), 0)
    np.testing.assert_allclose(line.ranges, context.ranges, rtol=1e-5)


def test_line_shares_are_probabilities(blueprint: Blueprint) -> None:
    """A limped and a raised pot, with pairs of hands counted one by one."""
    tree, lines = blueprint.tree, {found.text: found for found in flop_lines(blueprint)}
    apart = ~(HAND_CARDS[:, None, :, None] == HAND_CARDS[None, :, None, :]).any(axis=(2, 3))
    pairs = {}
    for text, code in (("cc", CALL_ACTION), ("r200c", 200)):
        first = blueprint.rows(0)[tree.actions_of(0).index(code)]
        node = tree.find((code,))
        second = blueprint.rows(node)[tree.actions_of(node).index(CALL_ACTION)]
        pairs[text] = float(first[HAND_CLASS] / FULL @ apart @ (second[HAND_CLASS] / FULL))
    assert lines["cc"].share / lines["r200c"].share == pytest.approx(pairs["cc"] / pairs["r200c"], rel=1e-4)


def test_entry_equals_the_agents_own_solve(blueprint: Blueprint, line: FlopLine) -> None:
    """The strategies equal those of a first decision with that menu, up to 255ths."""
    row, _ = locate(FLOP)
    board = tuple(canonical_boards(3)[row].tolist())
    street = StreetSettings(MENU, ITERATIONS)
    agent = Agent(blueprint, AgentSettings(street, street, street, budget=None, book=None))
    solved = agent.decide(line.betting, board, None, seed=row).solved
    assert isinstance(solved, _DepthLimited)
    solution = solved.solver.solution()
    stored = solve_entry(blueprint, line, row, MENU, ITERATIONS)
    tree = solution.game.tree
    for node in np.flatnonzero(tree.kind == DECISION).tolist():
        first = int(tree.action_row[node])
        strategy = solution.strategy(node)
        kept = stored[first : first + len(strategy)]
        assert (kept.sum(axis=0, dtype=np.int64) == FULL).all()
        np.testing.assert_allclose(kept / FULL, strategy, atol=1 / FULL + 1e-6)


def test_quantised_probabilities_add_up() -> None:
    rows = np.array([[1, 0, 1 / 3, 0.501], [0, 0.5, 1 / 3, 0.499], [0, 0.5, 1 / 3, 0]], dtype=np.float32)
    kept = quantised(rows)
    assert kept.sum(axis=0).tolist() == [255] * 4
    assert np.abs(kept - rows * 255).max() < 1
    assert kept[:, 0].tolist() == [255, 0, 0]


def test_the_agent_plays_by_the_book(blueprint: Blueprint, folder: Path, line: FlopLine) -> None:
    agent = Agent(blueprint, settings(folder))
    decision = decide(agent, "r300c/")
    assert decision.method is Method.BOOK
    assert decision.iterations == ITERATIONS
    row, relabelling = locate(FLOP)
    stored = solve_entry(blueprint, line, row, MENU, ITERATIONS)
    hands = np.flatnonzero(unblocked(tuple(canonical_boards(3)[row].tolist())))
    for hand in np.flatnonzero(unblocked(FLOP)).tolist()[::50]:
        column = int(np.flatnonzero(hands == HAND_UNDER[relabelling, hand])[0])
        expected = stored[: len(decision.strategy.actions), column] / FULL
        np.testing.assert_allclose(decision.strategy.probabilities[:, hand], expected, rtol=1e-5)
    assert not decision.strategy.probabilities[:, ~unblocked(FLOP)].any()
    assert explain(decision, hand=int(hands[0]))["method"] == "flop book"


def test_relabelled_suits_give_the_same_strategy(blueprint: Blueprint, folder: Path) -> None:
    agent = Agent(blueprint, settings(folder))
    plain = decide(agent, "r300c/c")
    for suits in ("1230", "3210", "0213"):
        board, number = relabelled(FLOP, suits)
        other = decide(agent, "r300c/c", board)
        assert other.method is Method.BOOK
        moved = HAND_UNDER[number]
        np.testing.assert_array_equal(other.strategy.probabilities[:, moved], plain.strategy.probabilities)
        np.testing.assert_allclose(other.ranges[:, moved], plain.ranges, rtol=1e-5)


def test_turn_starts_from_the_books_ranges(blueprint: Blueprint, folder: Path) -> None:
    """We check, they bet, we call: two decisions from the book, and the turn starts from its ranges."""
    agent = Agent(blueprint, settings(folder))
    first = decide(agent, "r300c/")
    after = Context.from_bytes(first.after(CALL).to_bytes())
    second = decide(agent, "r300c/cr900", context=after)
    assert second.method is Method.BOOK
    book = FlopBook(folder, blueprint, MENU)
    entry = book.entry(LINE, FLOP)
    assert entry is not None
    node = entry.tree.find((CALL_ACTION,))
    bets = entry.strategy(node)[entry.tree.actions_of(node).index(900)]
    theirs = entry.ranges[1] * bets
    np.testing.assert_allclose(
        second.ranges[1], np.maximum(theirs / theirs.max(), 1e-4 * unblocked(FLOP)), rtol=1e-4
    )
    ours = entry.ranges[0] * entry.strategy(0)[0]
    np.testing.assert_allclose(
        second.ranges[0], np.maximum(ours / ours.max(), 1e-4 * unblocked(FLOP)), rtol=1e-4
    )
    turn = (*FLOP, *parse_cards("2h"))
    third = decide(agent, "r300c/cr900c/", turn, second.after(CALL))
    assert third.method is Method.EXACT
    called = second.ranges[0] * second.strategy.probability(CALL)
    assert np.corrcoef(third.ranges[0], called * unblocked(turn))[0, 1] > 0.999


def test_opponent_replies_update_the_turn_ranges(blueprint: Blueprint, folder: Path) -> None:
    agent = Agent(blueprint, settings(folder))
    first = decide(agent, "r300c/")
    bet = raise_to(900)
    turn = (*FLOP, *parse_cards("2h"))
    third = decide(agent, "r300c/r900c/", turn, first.after(bet))
    called = first.ranges[1] * first.replies[bet][CALL_ACTION]
    assert np.corrcoef(third.ranges[1], called * unblocked(turn))[0, 1] > 0.999


@pytest.mark.parametrize(
    ("text", "board"),
    [("r300c/", "Ks8d2c"), ("r200c/", "Ks8d3c"), ("r300c/r417", "Ks8d3c"), ("r250c/", "Ks8d3c")],
    ids=["other flop", "other line", "a bet off the tree", "a bet off the tree before the flop"],
)
def test_flops_missing_from_the_book_are_solved(
    blueprint: Blueprint, folder: Path, text: str, board: str
) -> None:
    decision = decide(Agent(blueprint, settings(folder)), text, tuple(parse_cards(board)))
    assert decision.method is Method.DEPTH_LIMITED


def test_flops_with_other_ranges_are_solved(blueprint: Blueprint, folder: Path, line: FlopLine) -> None:
    agent = Agent(blueprint, settings(folder))
    solved = Context("r300c/", line.ranges[::-1].copy(), {})
    assert decide(agent, "r300c/", context=solved).method is Method.DEPTH_LIMITED
    rounded = Context("r300c/", (3 * line.ranges).astype(np.float16).astype(np.float32), {})
    assert decide(agent, "r300c/", context=rounded).method is Method.BOOK
    # After a decision on the flop that was not from the book, ranges are not the book's.
    first = decide(Agent(blueprint, settings(None)), "r300c/")
    assert decide(agent, "r300c/cr900", context=first.after(CALL)).method is Method.DEPTH_LIMITED


def test_actions_never_taken_in_the_book_are_solved(
    blueprint: Blueprint, line: FlopLine, tmp_path: Path
) -> None:
    path = make(tmp_path, blueprint, line, [])
    file = open_book_file(path, {LINE: line}, blueprint, MENU)
    row, _ = locate(FLOP)
    stored = solve_entry(blueprint, line, row, MENU, ITERATIONS)
    first = int(file.tree.action_row[file.tree.find((CALL_ACTION,))])
    stored[first : first + 2] = [[FULL], [0]]  # after a check the opponent always checks
    write_entry(file, row, stored)
    agent = Agent(blueprint, settings(tmp_path))
    context = decide(agent, "r300c/").after(CALL)
    assert decide(agent, "r300c/cr900", context=context).method is Method.DEPTH_LIMITED


def test_without_a_context_ranges_come_from_the_book(blueprint: Blueprint, folder: Path) -> None:
    agent = Agent(blueprint, settings(folder))
    known = decide(agent, "r300c/cr900", context=decide(agent, "r300c/").after(CALL))
    found = decide(agent, "r300c/cr900")
    assert found.method is Method.BOOK
    np.testing.assert_allclose(found.ranges, known.ranges, rtol=1e-4)


def test_preflop_context_is_enough(blueprint: Blueprint, folder: Path) -> None:
    """The button raised and was called: its context has the probability of the call."""
    agent = Agent(blueprint, settings(folder))
    preflop = decide(agent, "", ())
    context = preflop.after(raise_to(300))
    assert decide(agent, "r300c/c", context=context).method is Method.BOOK


def test_default_book_is_found(blueprint: Blueprint, folder: Path) -> None:
    """Agents find the book in the default folder; with a number of iterations they solve instead."""
    assert decide(Agent(blueprint, settings(DEFAULT_BOOK)), "r300c/").method is Method.DEPTH_LIMITED
    place = book_folder(blueprint, MENU)
    place.mkdir(parents=True)
    (place / f"{LINE}.flops").write_bytes((folder / f"{LINE}.flops").read_bytes())
    assert decide(Agent(blueprint, settings(DEFAULT_BOOK)), "r300c/").method is Method.BOOK
    assert book_menu(AgentSettings()) == AgentSettings().flop.rich_menu
    assert make_settings(iterations=4).book is None
    assert make_settings(budget=1.0).book == DEFAULT_BOOK


def test_a_book_of_another_blueprint_is_refused(folder: Path, tmp_path: Path) -> None:
    other = made_up_blueprint(tmp_path, WIDE, seed=2)
    with pytest.raises(BookError, match=r"was made for the blueprint .* make a book for it"):
        Agent(other, settings(folder))


def test_a_book_with_other_bets_is_refused(blueprint: Blueprint, folder: Path) -> None:
    with pytest.raises(BookError, match=r"was made with the bets '100% \| a'"):
        FlopBook(folder, blueprint, "50% | a")


def test_damaged_files_are_refused(blueprint: Blueprint, folder: Path, tmp_path: Path) -> None:
    whole = book_path(folder, LINE).read_bytes()
    damaged = book_path(tmp_path, LINE)
    for content, complaint in (
        (b"something else", "is not a flop book"),
        (whole[:1000], "cut off"),
        (whole[:-4096], "cut off"),
        (whole[:60] + b"!" + whole[61:], "header does not match its checksum"),
        (whole[:8000] + bytes([whole[8000] ^ 1]) + whole[8001:], "does not match its checksum"),
    ):
        damaged.write_bytes(content)
        with pytest.raises(BookError, match=complaint):
            FlopBook(tmp_path, blueprint, MENU)
    with pytest.raises(BookError, match="holds no flop book"):
        FlopBook(tmp_path / "nowhere", blueprint, MENU)


def test_damaged_entries_are_ignored(
    blueprint: Blueprint, folder: Path, line: FlopLine, tmp_path: Path
) -> None:
    whole = bytearray(book_path(folder, LINE).read_bytes())
    file = FlopBook(folder, blueprint, MENU).files[LINE]
    row, _ = locate(FLOP)
    assert file.rows_made() == [row]
    whole[file.first_slot + row * slot_bytes(file.tree) + 500] ^= 1
    book_path(tmp_path, LINE).write_bytes(whole)
    assert FlopBook(tmp_path, blueprint, MENU).files[LINE].rows_made() == []
    make(tmp_path, blueprint, line, [row])
    assert book_path(tmp_path, LINE).read_bytes() == book_path(folder, LINE).read_bytes()


def test_entries_written_later_are_seen(blueprint: Blueprint, line: FlopLine, tmp_path: Path) -> None:
    make(tmp_path, blueprint, line, [])
    agent = Agent(blueprint, settings(tmp_path))
    assert decide(agent, "r300c/").method is Method.DEPTH_LIMITED
    make(tmp_path, blueprint, line, [locate(FLOP)[0]])
    assert decide(agent, "r300c/").method is Method.BOOK


def test_book_keeps_its_number_of_iterations(blueprint: Blueprint, line: FlopLine, folder: Path) -> None:
    with pytest.raises(BookError, match="go on with --iterations 6"):
        open_for_making(folder, line, blueprint, MENU, ITERATIONS + 1)
    with only_maker(folder), pytest.raises(BookError, match="is being made"), only_maker(folder):
        pass


def test_frequent_flops_come_first(blueprint: Blueprint) -> None:
    order = flops_in_order()
    assert sorted(order.tolist()) == list(range(1755))
    weights = board_multiplicities(3)[order]
    assert (np.diff(weights) <= 0).all()
    assert flops_in_order(20).tolist() == order[:20].tolist()
    assert flops_share(order) == 1
    assert flops_share(order[:286]) == pytest.approx(286 * 24 / 22_100)
    lines = flop_lines(blueprint)[:2]
    tasks = tasks_in_order(lines, flops_in_order(300))
    assert len(set(tasks)) == 600
    shares = {line.text: line.share for line in lines}
    chances = [shares[task.line] * board_multiplicities(3)[task.row] for task in tasks]
    assert chances == sorted(chances, reverse=True)
