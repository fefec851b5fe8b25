"""Hand histories in the open `.phh` format, and `.phhs` files of many hands (github.com/uoftcprg/phh-std).

1. Variants NT and FT: no-limit and fixed-limit hold'em for two players, the rounds and deck of hold'em.
2. Player p1 is position 0, the big blind, and p2 the button: heads-up the format assigns
   `blinds_or_straddles` in reverse, so it reads `[small, big]`.
3. `cbr` amounts are totals of the round, unlike ours and the ACPC's, which are totals of the hand.
4. Unknown hole cards are `????`. Board cards that were never revealed are not written.
5. A cap on raises, which the format cannot express, is in the user-defined field `_max_raises`.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable
from typing import Any

from game.actions import CALL, FOLD, LIMIT_RAISE, Action, ActionKind, raise_to
from game.betting import BettingState, start
from game.cards import Cards, cards_text, parse_cards
from game.definition import HUNL, LIMIT_HOLDEM, NUM_PLAYERS, UNLIMITED_STACK, GameDefinition
from game.errors import GameError
from game.state import HandState, hand_state
from protocol.errors import RecordError
from protocol.records import HandRecord

_UNKNOWN_HAND = "????"


def history_text(record: HandRecord) -> str:
    """The `.phh` file of one hand, finished or not."""
    return "\n".join(_lines(record)) + "\n"


def histories_text(records: Iterable[HandRecord]) -> str:
    """The `.phhs` file of many hands."""
    return "\n".join(f"[{number}]\n{history_text(record)}" for number, record in enumerate(records, start=1))


def parse_history(text: str) -> HandRecord:
    """Read a `.phh` file, replaying it by the rules; raises `RecordError`."""
    return _record(_load_toml(text))


def parse_histories(text: str) -> list[HandRecord]:
    """Read a `.phhs` file; raises `RecordError` with the number of the bad hand."""
    records = []
    for name, fields in _load_toml(text).items():
        if not isinstance(fields, dict):
            raise RecordError(f"field {name!r} outside of any hand: a .phhs file has a table for each hand")
        try:
            records.append(_record(fields))
        except RecordError as error:
            raise RecordError(f"hand [{name}]: {error}") from error
    return records


def _lines(record: HandRecord) -> list[str]:
    state = record.state
    definition = state.definition
    _verify_holdem(definition)
    big, small = definition.blinds
    lines = [
        'variant = "NT"' if definition.no_limit else 'variant = "FT"',
        "antes = [0, 0]",
        f"blinds_or_straddles = [{small}, {big}]",
    ]
    if definition.no_limit:
        lines.append(f"min_bet = {big}")
    else:
        lines += [f"small_bet = {definition.raise_sizes[0]}", f"big_bet = {definition.raise_sizes[2]}"]
    lines.append(f"starting_stacks = {_stacks_text(definition.stacks)}")
    lines += ["actions = [", *(f"  {_quote(action)}," for action in _actions(state)), "]"]
    lines += [f"hand = {record.hand_id}", f"players = [{', '.join(map(_quote, record.players))}]"]
    if _values_are_known(state) and UNLIMITED_STACK not in definition.stacks:
        lines.append(f"finishing_stacks = {list(_finishing_stacks(state))}")
    if definition.max_raises != _usual_max_raises(definition.no_limit):
        lines.append(f"_max_raises = {list(definition.max_raises)}")
    return lines


def _actions(state: HandState) -> list[str]:
    betting = state.betting
    written = [
        f"d dh p{position + 1} {cards_text(cards) or _UNKNOWN_HAND}"
        for position, cards in enumerate(state.hole)
    ]
    replay = start(state.definition)
    spent_before = 0  # by each player, in earlier rounds
    dealt = 0
    for round_index, actions in enumerate(betting.actions):
        if round_index and not replay.is_finished:
            written.append(f"d db {cards_text(_round_cards(state, round_index))}")
            dealt = round_index
            spent_before = replay.max_spent
        for action in actions:
            player = replay.actor + 1
            replay = replay.apply(action)
            if action.kind is ActionKind.RAISE:
                written.append(f"p{player} cbr {replay.max_spent - spent_before}")
            else:
                written.append(f"p{player} {'f' if action == FOLD else 'cc'}")
    if betting.is_showdown:
        # Players show their cards before the rest of the board is dealt, as is usual when all-in.
        written += [f"p{p + 1} sm {cards_text(state.hole[p])}" for p in range(NUM_PLAYERS) if state.hole[p]]
        written += [
            f"d db {cards_text(_round_cards(state, later))}"
            for later in range(dealt + 1, state.definition.num_rounds)
        ]
    return written


def _round_cards(state: HandState, round_index: int) -> Cards:
    definition = state.definition
    return state.board[definition.board_size(round_index - 1) : definition.board_size(round_index)]


def _record(fields: dict[str, Any]) -> HandRecord:
    definition = _definition(fields)
    state = _replay(definition, _typed_list(fields, "actions", str))
    players = _typed_list(fields, "players", str) if "players" in fields else ["", ""]
    hand = fields.get("hand", 0)
    if not isinstance(hand, int) or len(players) != NUM_PLAYERS:
        raise RecordError(f"hand {hand!r} of players {players}: expected a number and two names")
    if "finishing_stacks" in fields and _values_are_known(state):
        stacks = tuple(_chips_list(fields, "finishing_stacks"))
        if stacks != _finishing_stacks(state):
            raise RecordError(
                f"finishing stacks {list(stacks)}: by the rules they must be {list(_finishing_stacks(state))}"
            )
    return HandRecord(hand, state, (players[0], players[1]))


def _definition(fields: dict[str, Any]) -> GameDefinition:
    variant = fields.get("variant")
    if variant not in {"NT", "FT"}:
        raise RecordError(
            f"variant {variant!r}: only NT and FT, no-limit and fixed-limit hold'em, can be read"
        )
    no_limit = variant == "NT"
    if any(_chips_list(fields, "antes")):
        raise RecordError("antes are not supported")
    small, big = _chips_list(fields, "blinds_or_straddles")
    stacks = _chips_list(fields, "starting_stacks")
    base = HUNL if no_limit else LIMIT_HOLDEM
    raise_sizes: tuple[int, ...] = ()
    if no_limit:
        if _chips(fields, "min_bet") != big:
            raise RecordError(f"min_bet {fields['min_bet']} must equal the big blind of {big}")
    else:
        small_bet, big_bet = _chips(fields, "small_bet"), _chips(fields, "big_bet")
        raise_sizes = (small_bet, small_bet, big_bet, big_bet)
    max_raises = _usual_max_raises(no_limit)
    if "_max_raises" in fields:
        max_raises = tuple(_typed_list(fields, "_max_raises", int))
    try:
        return GameDefinition(
            no_limit=no_limit,
            stacks=(stacks[0], stacks[1]),
            blinds=(big, small),
            first_player=base.first_player,
            board_cards=base.board_cards,
            raise_sizes=raise_sizes,
            max_raises=max_raises,
        )
    except GameError as error:
        raise RecordError(str(error)) from error


def _replay(definition: GameDefinition, actions: list[str]) -> HandState:
    hole: list[Cards] = [(), ()]
    board: Cards = ()
    betting = start(definition)
    spent_before = 0  # by each player, in earlier rounds
    for number, notation in enumerate(actions, start=1):
        words = notation.partition("#")[0].split()
        try:
            match words:
                case []:
                    pass  # a comment
                case ["d", "dh", "p1" | "p2" as player, text]:
                    hole[int(player[1]) - 1] = () if set(text) == {"?"} else parse_cards(text)
                case ["d", "db", text]:
                    board += parse_cards(text)
                    spent_before = betting.max_spent
                case ["p1" | "p2", "sm"] | ["p1" | "p2", "sm", "-"]:
                    pass  # mucked: unknown cards stay unknown
                case ["p1" | "p2" as player, "sm", text]:
                    hole[int(player[1]) - 1] = parse_cards(text)
                case ["p1" | "p2" as player, *play]:
                    if len(board) != definition.board_size(betting.round_index):
                        raise RecordError(f"the board of round {betting.round_index + 1} is not dealt")
                    betting = _play(betting, int(player[1]) - 1, play, spent_before)
                case _:
                    raise RecordError("not an action of heads-up hold'em")
        except (GameError, RecordError) as error:
            raise RecordError(f"action {number}, {notation!r}: {error}") from error
    try:
        return hand_state(betting, (hole[0], hole[1]), board)
    except GameError as error:
        raise RecordError(str(error)) from error


def _play(betting: BettingState, position: int, words: list[str], spent_before: int) -> BettingState:
    if position != betting.actor:
        raise RecordError(f"it is not the turn of p{position + 1}")
    action: Action
    match words:
        case ["f"]:
            action = FOLD
        case ["cc"]:
            action = CALL
        case ["cbr", amount] if not betting.definition.no_limit:
            action = LIMIT_RAISE
            after = betting.apply(action).max_spent - spent_before
            if _whole(amount) != after:
                raise RecordError(f"the fixed raise of this round is to {after}")
        case ["cbr", amount]:
            action = raise_to(spent_before + _whole(amount))
        case _:
            raise RecordError("not a player's action in hold'em")
    return betting.apply(action)


def _values_are_known(state: HandState) -> bool:
    betting = state.betting
    return betting.is_finished and (not betting.is_showdown or all(state.hole))


def _finishing_stacks(state: HandState) -> tuple[int, ...]:
    return tuple(stack + value for stack, value in zip(state.definition.stacks, state.values(), strict=True))


def _usual_max_raises(no_limit: bool) -> tuple[int, ...]:
    return HUNL.max_raises if no_limit else LIMIT_HOLDEM.max_raises


def _verify_holdem(definition: GameDefinition) -> None:
    base = HUNL if definition.no_limit else LIMIT_HOLDEM
    sizes = definition.raise_sizes
    alike = (
        definition.first_player == base.first_player
        and definition.board_cards == base.board_cards
        and definition.num_hole_cards == base.num_hole_cards
        and (definition.num_suits, definition.num_ranks) == (base.num_suits, base.num_ranks)
        and definition.blinds[0] >= definition.blinds[1]
        and (definition.no_limit or (sizes[0] == sizes[1] and sizes[2] == sizes[3]))
    )
    if not alike:
        raise RecordError("only heads-up hold'em with four rounds and a full deck can be written as .phh")


def _load_toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise RecordError(f"not valid TOML: {error}") from error


def _typed_list(fields: dict[str, Any], name: str, kind: type) -> list[Any]:
    value = fields.get(name)
    if not isinstance(value, list) or not all(isinstance(item, kind) for item in value):
        raise RecordError(f"{name} = {value!r}: expected a list of {kind.__name__}")
    return value


def _chips_list(fields: dict[str, Any], name: str) -> list[int]:
    value = fields.get(name)
    if not isinstance(value, list) or len(value) != NUM_PLAYERS:
        raise RecordError(f"{name} = {value!r}: expected two numbers of chips")
    return [_whole(item) for item in value]


def _chips(fields: dict[str, Any], name: str) -> int:
    if name not in fields:
        raise RecordError(f"the field {name} is missing")
    return _whole(fields[name])


def _whole(value: object) -> int:
    """Whole chips from `100`, `100.0` or their text; `inf` is `UNLIMITED_STACK`."""
    try:
        number = float(str(value))
    except ValueError:
        raise RecordError(f"{value!r} is not a number of chips") from None
    if number == float("inf"):
        return UNLIMITED_STACK
    if number != number // 1 or abs(number) > UNLIMITED_STACK:
        raise RecordError(f"{value!r}: chips must be whole numbers")
    return int(number)


def _stacks_text(stacks: tuple[int, int]) -> str:
    words = ["inf" if stack == UNLIMITED_STACK else str(stack) for stack in stacks]
    return f"[{', '.join(words)}]"


def _quote(text: str) -> str:
    # JSON strings are valid TOML strings except for one control character.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
