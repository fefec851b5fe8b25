from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from abstraction.isomorphism import board_locations
from abstraction.tables import BucketTables, board_buckets
from arena.aivat.aivat import Beliefs, Choice, Deal, corrected_value, mean_dealt, mean_start
from arena.aivat.hand import make_games, play_as
from arena.aivat.holdem import HoldemGame, HoldemState, played_hand
from arena.aivat.node_values import compute_node_values
from arena.duplicate.aivat_match import Evaluator, aivat_chips, is_open
from arena.duplicate.all_in import allin_chips
from arena.duplicate.duplicate import DuplicateTerms, corrects_on_the_way, play_duplicate
from arena.duplicate.pairs import deal_pair
from arena.duplicate.results import MatchResult, estimate
from arena.errors import MatchAborted
from arena.players.blueprint_player import BlueprintPlayer
from arena.players.play_style import PlayStyle, style_rows
from arena.players.registry import make_player
from game.actions import CALL, FOLD, raise_to
from game.betting import start
from game.cards import Cards, parse_cards
from game.definition import HUNL, NLFH
from game.hands import HAND_CARDS, NUM_HANDS, parse_hand, unblocked
from game.state import hand_state
from protocol.acpc import parse_betting
from solver.blueprint.abstract_game import make_training_game
from solver.blueprint.file import Blueprint
from solver.equity.all_in import mean_wins, pair_wins
from solver.equity.beliefs import PlaceValues, mean_over_flops
from solver.games.history import coded_action
from solver.training.deals import HoldemDealer
from tests.arena.aivat_setups import LATE, use_quick_values
from tests.arena.blueprints import TINY, WIDE, made_up_blueprint, made_up_tables


@pytest.fixture
def quick(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use_quick_values(tmp_path, monkeypatch)


def some_game(folder: Path, menus: str = TINY) -> tuple[Blueprint, HoldemGame]:
    blueprint = made_up_blueprint(folder, menus)
    game = make_training_game(blueprint.tree, blueprint.num_buckets, 100.0)
    tables: BucketTables = made_up_tables()
    values = compute_node_values(game, blueprint.bytes, HoldemDealer(tables), deals=4_096)
    return blueprint, HoldemGame(HUNL, game, blueprint.bytes, values, tables)


def sparse_beliefs(board: Cards) -> Beliefs:
    rng = np.random.default_rng(2)
    live = np.flatnonzero(unblocked(board))
    beliefs = []
    for _ in range(2):
        weights = np.zeros(NUM_HANDS)
        weights[rng.choice(live, size=5, replace=False)] = rng.random(5)
        beliefs.append(weights)
    return beliefs[0], beliefs[1]


def state_after(game: HoldemGame, text: str, board: Cards) -> HoldemState:
    """The state after a betting, with cards dealt when a round starts."""
    betting = parse_betting(HUNL, text)
    state = game.root(start(HUNL))
    for actions in betting.actions:
        for action in actions:
            size = HUNL.board_size(state.betting.round_index)
            if size > len(state.board):
                state = game.after_deal(state, board[:size])
            state = game.after_action(state, action)
    return state


BOARD = parse_cards("7h8hTs2cTd")


@pytest.mark.parametrize("text", ["cr300c/r900c/", "r300c/cc/r1800c/"])
def test_means_over_cards_are_exact(tmp_path: Path, text: str) -> None:
    """The fast mean over all cards equals enumeration."""
    _, game = some_game(tmp_path)
    state = state_after(game, text, BOARD)
    assert state.node >= 0
    beliefs = sparse_beliefs(state.board)
    cards = set(range(52)) - set(state.board)
    following = [game.after_deal(state, (*state.board, card)) for card in cards]
    assert game.guess_dealt(state, beliefs) == pytest.approx(mean_dealt(game, following, beliefs))


@pytest.mark.parametrize("name", ["", "AsKs", "QdQh", "7c2d"])
def test_flops_equivalent_under_the_beliefs_are_merged(tmp_path: Path, name: str) -> None:
    """With suit-symmetric beliefs or a single hand, fewer flops give the same mean."""
    _, game = some_game(tmp_path)
    rows = np.random.default_rng(1).integers(0, 8, size=(1755, NUM_HANDS), dtype=np.uint16)
    # Hands that a board's symmetries exchange must share a bucket; buckets by rank do.
    ranks = HAND_CARDS.astype(np.int64) // 4
    rows = rows[:, ranks[:, 1] * 13 + ranks[:, 0]]
    tables = game.tables._replace(flop=rows, flop_locations=board_locations(3))
    game.tables = tables
    state = state_after(game, "cc/", BOARD)
    everything, one = np.ones(NUM_HANDS), np.zeros(NUM_HANDS)
    one[parse_hand(name or "2c2d")] = 0.7
    beliefs = (everything, one if name else everything)
    flops = np.array([(a, b, c) for c in range(52) for b in range(c) for a in range(b)], dtype=np.uint8)
    place = int(game.values.places.of_node[state.node])
    table = PlaceValues(
        game.values.values, int(game.values.places.base[place]), float(game.values.means[place])
    )
    expected = mean_over_flops(tables, flops, np.ones(len(flops), dtype=np.int64), *beliefs, table)
    assert game.guess_dealt(state, beliefs) == pytest.approx(100 * expected)


@pytest.mark.parametrize(
    "text",
    ["r300c/r900c/r2700", "r300c/r900c/c", "r300c/r900c/r2700r8100", "cc/cc/r200", "r300c/r900", "r300c/c"],
)
def test_careful_guesses_within_a_round_are_consistent(tmp_path: Path, text: str) -> None:
    """A guess is the mean of the guesses after the profile's actions or, after a round, over cards."""
    blueprint, plain = some_game(tmp_path, WIDE)
    game = HoldemGame(HUNL, plain.game, plain.strategy, plain.values, plain.tables, careful=True)
    state = state_after(game, text, BOARD)
    beliefs = sparse_beliefs(state.board)
    node, actor = int(plain.game.tree_node[state.node]), state.betting.actor
    buckets = np.minimum(board_buckets(plain.tables, state.board), 7)
    expected = 0.0
    for code, row in zip(plain.game.tree.actions_of(node), blueprint.rows(node) / 255.0, strict=True):
        acted = beliefs[actor] * row[buckets]
        after = (acted, beliefs[1]) if actor == 0 else (beliefs[0], acted)
        share = game.mass(state, after) / game.mass(state, beliefs)
        following = game.after_action(state, coded_action(code))
        if share == 0:
            continue
        if following.betting.is_finished:
            expected += share * game.payoff(following, after)
        elif following.betting.round_index > state.betting.round_index:
            expected += share * game.guess_dealt(following, after)
            assert game.guess(following, after) == pytest.approx(game.guess_dealt(following, after))
        else:
            answered = max(following.betting.spent) == 20_000  # elsewhere a sample of run-outs
            guess = game._walk_round(following, after) if answered else game.guess(following, after)
            expected += share * guess
    assert game.guess(state, beliefs) == pytest.approx(expected)
    dealt = state_after(game, "r300c/r900c/", BOARD)
    turn = game.after_deal(dealt, BOARD[:4])
    assert game.guess(turn, beliefs) == plain.guess(turn, beliefs)


def test_states_follow_the_tree(tmp_path: Path) -> None:
    _, game = some_game(tmp_path)
    root = game.root(start(HUNL))
    assert game.after_action(root, FOLD).betting.is_finished
    called = game.after_action(root, CALL)
    assert called.node > 0
    assert called.scale == 100.0
    near = game.after_action(root, raise_to(250))  # the tree has 300
    assert near.node == game.after_action(root, raise_to(300)).node
    assert near.scale == pytest.approx(100.0 * 350 / 400)
    # Translated to an all-in and called, the tree's hand is over but the real one is not: no node is known.
    huge = state_after(game, "r300r18000c/", BOARD)
    assert (huge.node, huge.place) == (-1, -1)
    all_in = state_after(game, "r300r20000c///", BOARD)
    assert all_in.betting.is_finished
    assert all_in.board == ()


def test_payoffs_are_exact(tmp_path: Path) -> None:
    _, game = some_game(tmp_path)
    first, second = np.zeros(NUM_HANDS), np.zeros(NUM_HANDS)
    first[parse_hand("AsAd")], second[parse_hand("KsKd")] = 0.3, 0.4
    assert game.payoff(state_after(game, "r300f", BOARD), (first, second)) == -100.0
    assert game.payoff(state_after(game, "f", BOARD), (first, second)) == 50.0
    assert game.payoff(state_after(game, "cc/cc/cc/cc", BOARD), (first, second)) == 100.0
    turn = state_after(game, "cc/cc/r20000c/", BOARD)
    exact = 20_000 * pair_wins(parse_cards("AsAd"), parse_cards("KsKd"), BOARD[:4])
    assert game.payoff(turn, (first, second)) == pytest.approx(exact)
    assert game.guess(turn, (first, second)) == pytest.approx(exact)


@pytest.mark.slow
@pytest.mark.parametrize(("opponent", "pairs"), [("blueprint", 150), ("pot-odds", 15)])
def test_plain_all_in_and_aivat_estimates_agree(
    tmp_path: Path, quick: None, opponent: str, pairs: int
) -> None:
    """The means agree within their intervals, which shrink if both players are known."""
    path = made_up_blueprint(tmp_path, LATE, spread=1.0).path
    texts = f"blueprint:{path}", opponent.replace("blueprint", f"blueprint:{path},bias=call")
    terms = DuplicateTerms(HUNL, texts, ("a", "b"), 3, pairs)
    result = play_duplicate(terms, workers=1)
    done: list[int] = []
    chips = {
        "plain": result.chips.astype(float),
        "allin": allin_chips(result),
        "aivat": aivat_chips(terms, result, workers=1, tick=done.append),
    }
    assert done[-1] == len(chips["aivat"])
    estimates = {name: estimate(values.reshape(-1, 2).mean(axis=1)) for name, values in chips.items()}
    for name in ("allin", "aivat"):
        apart = abs(estimates[name].mean - estimates["plain"].mean)
        assert apart < 1.5 * (estimates[name].margin + estimates["plain"].margin)
    assert chips["allin"].std() <= chips["plain"].std()
    if opponent == "blueprint":
        assert chips["aivat"].std() < 0.5 * chips["plain"].std()


def test_players_without_a_known_strategy_are_refused(tmp_path: Path, quick: None) -> None:
    path = made_up_blueprint(tmp_path).path
    players = make_player("random"), make_player("pot-odds")
    named = make_player(f"blueprint:{path}"), make_player("random")
    games = make_games(HUNL, named)
    with pytest.raises(MatchAborted, match="neither of these"):
        Evaluator(HUNL, players, 1, games)
    with pytest.raises(MatchAborted, match="blueprint of the game"):
        make_games(NLFH, named)


def test_an_agent_with_a_time_budget_is_unknown_after_the_match(tmp_path: Path, quick: None) -> None:
    """Queried again, it may report a strategy other than the one it played."""
    path = made_up_blueprint(tmp_path).path
    texts = f"agent:{path}", f"agent:{path},budget=3", f"agent:{path},iterations=5", f"blueprint:{path}"
    players = [make_player(text) for text in texts]
    assert [is_open(player) for player in players] == [False, False, True, True]
    games = make_games(HUNL, (players[0], make_player("random")))  # by the agent's own blueprint
    assert games[0].strategy.shape == players[0].blueprint.bytes.shape  # type: ignore[attr-defined]


def test_agents_are_corrected_while_they_play(tmp_path: Path, quick: None) -> None:
    """Correction during play gives the same values as afterwards and is kept in the journal."""
    path = made_up_blueprint(tmp_path).path
    texts = f"agent:{path},iterations=2", f"blueprint:{path}"
    terms = DuplicateTerms(HUNL, texts, ("a", "b"), 3, 4, aivat=True)
    assert corrects_on_the_way(terms)
    assert not corrects_on_the_way(replace(terms, players=(texts[1], texts[1])))
    result = play_duplicate(terms, tmp_path / "match", workers=1)
    assert result.corrected is not None
    afterwards = aivat_chips(terms, result, workers=1)
    np.testing.assert_allclose(result.corrected, afterwards, rtol=0, atol=1e-3)
    again = play_duplicate(terms, tmp_path / "match", workers=1)
    np.testing.assert_array_equal(again.corrected, result.corrected)
    with pytest.raises(MatchAborted, match="another match"):
        play_duplicate(replace(terms, aivat=False), tmp_path / "match", workers=1)
    timed = replace(terms, players=(f"agent:{path},budget=0.1", texts[1]), pairs=1)
    corrected = play_duplicate(timed, workers=1).corrected
    assert corrected is not None
    assert np.isfinite(corrected).all()
    with pytest.raises(MatchAborted, match="neither of these"):
        play_duplicate(replace(terms, players=("random", "pot-odds")), workers=1)


def test_play_as_applies_styles_to_the_strategy(tmp_path: Path) -> None:
    blueprint = made_up_blueprint(tmp_path, WIDE)
    assert play_as(blueprint, (PlayStyle(), PlayStyle())) is blueprint.bytes
    style = PlayStyle("call", 10)
    played = play_as(blueprint, (PlayStyle(), style))
    node = int(np.flatnonzero((blueprint.tree.kind == 0) & (blueprint.tree.player == 1))[3])
    rows = blueprint.rows(node)
    at = int(blueprint.base[node])
    changed = played[at : at + rows.size].reshape(rows.shape)
    assert (changed.sum(axis=0, dtype=int) == 255).all()
    weights = np.empty(rows.shape, dtype=np.int64)
    codes = blueprint.tree.action[blueprint.tree.children_of(node)]
    style_rows(style.numbers(), codes, np.ascontiguousarray(rows), weights)
    np.testing.assert_allclose(changed / 255, weights / weights.sum(axis=0), atol=4 / 255)
    other = int(np.flatnonzero((blueprint.tree.kind == 0) & (blueprint.tree.player == 0))[3])
    at = int(blueprint.base[other])
    same = slice(at, at + blueprint.rows(other).size)
    np.testing.assert_array_equal(played[same], blueprint.bytes[same])


def one_hand(text: str, chips: int, stake: int, position: int) -> MatchResult:
    return MatchResult(
        HUNL,
        ("a", "b"),
        1,
        position=np.array([position]),
        chips=np.array([chips]),
        stake=np.array([stake]),
        betting=[text],
        deal=lambda index: ((parse_cards("AsAd"), parse_cards("KsKd")), BOARD),
    )


def test_all_in_hands_count_as_the_mean_over_run_outs() -> None:
    wins = pair_wins(parse_cards("AsAd"), parse_cards("KsKd"), BOARD[:4])
    assert allin_chips(one_hand("cc/cc/r20000c/", 20_000, 20_000, 0)) == pytest.approx([20_000 * wins])
    assert allin_chips(one_hand("cc/cc/r20000c/", -20_000, 20_000, 1)) == pytest.approx([-20_000 * wins])
    assert allin_chips(one_hand("cc/cc/cc/r20000c", 20_000, 20_000, 0)) == [20_000]
    assert allin_chips(one_hand("cc/cc/cc/r20000f", 100, 100, 1)) == [100]


def test_played_hand_has_deals_and_choices_of_known_players(tmp_path: Path) -> None:
    blueprint, game = some_game(tmp_path)
    betting = parse_betting(HUNL, "cc/cc/cr200f")
    hole, board = deal_pair(HUNL, 1, 1)
    player = BlueprintPlayer("a", blueprint).start_hand(1)
    hand = hand_state(betting, hole, board)
    nobody = played_hand(game, hand, (False, False), [None] * 7)
    assert [type(step) for step in nobody.steps] == [Deal, Deal]
    strategy = player.strategy(start(HUNL), ())
    first = played_hand(game, hand, (False, True), [strategy, *[None] * 6])
    assert [type(step) for step in first.steps] == [Choice, Deal, Deal]
    assert first.held[1] is None
    root = game.root(start(HUNL))
    value = corrected_value(game, first, mean_start(game, root, (False, True)))
    assert np.isfinite(value)


def test_hands_that_leave_the_tree_are_checked_down(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They get the mean over run-outs, which is also the mean over the next cards."""
    _, game = some_game(tmp_path)
    wins = np.zeros((NUM_HANDS, NUM_HANDS), dtype=np.float32)
    monkeypatch.setattr("solver.equity.all_in.preflop_wins", lambda: wins)
    preflop = state_after(game, "r300r18000c/", BOARD)
    assert (preflop.node, preflop.place) == (-1, -1)
    first, second = parse_hand("AsAh"), parse_hand("KdKc")
    wins[first, second] = 0.64
    pair = tuple(np.eye(1, NUM_HANDS, hand)[0] for hand in (first, second))
    assert game.guess_dealt(preflop, pair) == pytest.approx(0.64 * 18_000)
    before = state_after(game, "r300r18000c/cc/", BOARD)
    turn = game.after_deal(before, BOARD[:4])
    assert (before.node, turn.node) == (-1, -1)
    beliefs = sparse_beliefs(BOARD[:3])
    following = [game.after_deal(before, (*BOARD[:3], card)) for card in range(52) if card not in BOARD[:3]]
    assert game.guess_dealt(before, beliefs) == pytest.approx(mean_dealt(game, following, beliefs))
    live = game.live(turn)
    seen = (beliefs[0] * live, beliefs[1] * live)
    assert game.guess(turn, seen) == pytest.approx(18_000 * mean_wins(*seen, BOARD[:4]))
