"""Convert between Slumbot's betting notation (`b200c/kk/`) and `BettingState`.

1. A street is a sequence of `k` check, `c` call, `f` fold and `bN` bet or raise; N is the player's total *on
   this street*, including blinds before the flop. Our totals and the ACPC's are over the hand.
2. `/` closes a street. After a called all-in the remaining streets are empty: `b20000c///`.
3. Errors use the phrases of Slumbot's own parser (`SlumbotRefusal.phrase`), because programs check for them,
   with a readable reason added.
"""

from __future__ import annotations

import re

from game.actions import CALL, FOLD, Action, ActionKind, raise_to
from game.betting import BettingState, start
from game.definition import HUNL, GameDefinition
from protocol.errors import RemoteProtocolError

MAX_ACTION_CHARACTERS = 2048

_NUMBER = re.compile(r"[0-9]{1,9}")
_QUOTED = 60


class SlumbotRefusal(RemoteProtocolError):  # noqa: N818 - it names the refusal, as the rules do
    """An action that cannot be parsed or is illegal."""

    def __init__(self, phrase: str, reason: str) -> None:
        super().__init__(f"{phrase}: {reason}")
        self.phrase = phrase


def slumbot_text(betting: BettingState) -> str:
    """The betting of a hand in Slumbot's notation."""
    state = start(betting.definition)
    streets = []
    for actions in betting.actions:
        tokens = []
        for action in actions:
            tokens.append(increment_text(state, action))
            state = state.apply(action)
        streets.append("".join(tokens))
    return "/".join(streets)


def parse_slumbot(text: str, definition: GameDefinition = HUNL) -> BettingState:
    """Parse betting in Slumbot's notation. Slashes at the end may be left out."""
    if len(text) > MAX_ACTION_CHARACTERS:
        raise SlumbotRefusal("Unexpected character in action", f"more than {MAX_ACTION_CHARACTERS} of them")
    state, at = start(definition), 0
    while at < len(text):
        if state.is_finished:
            raise SlumbotRefusal(
                "Unexpected character in action", f"{_quote(text)} continues after the end of the hand"
            )
        action, at = _read_token(state, text, at)
        before = len(state.text) + len(str(action))
        state = state.apply(action)
        for _ in range(len(state.text) - before):
            if at < len(text):
                if text[at] != "/":
                    raise SlumbotRefusal("Missing slash", f"in {_quote(text)} before character {at + 1}")
                at += 1
    return state


def increment_text(betting: BettingState, action: Action) -> str:
    """An action of the player to act, in the notation of `act`."""
    if action.kind is ActionKind.FOLD:
        return "f"
    if action.kind is ActionKind.CALL:
        return "c" if betting.to_call else "k"
    return f"b{action.raise_to - _earlier_streets(betting)}"


def parse_increment(betting: BettingState, text: str) -> Action:
    """Parse exactly one legal action."""
    if betting.is_finished:
        raise SlumbotRefusal("Unexpected character in action", "the hand is over: request a new one")
    action, end = _read_token(betting, text, 0)
    if end != len(text):
        raise SlumbotRefusal("Unexpected character in action", f"{_quote(text)} is more than one action")
    return action


def _read_token(betting: BettingState, text: str, at: int) -> tuple[Action, int]:
    """A legal action and the offset after it."""
    letter = text[at : at + 1]
    to_call = betting.to_call
    if letter == "k":
        if to_call:
            raise SlumbotRefusal("Illegal check", f"there are {to_call} chips to call")
        return CALL, at + 1
    if letter == "c":
        if not to_call:
            raise SlumbotRefusal("Illegal call", "there is nothing to call: check with k")
        return CALL, at + 1
    if letter == "f":
        if not betting.can_fold():
            raise SlumbotRefusal("Illegal fold", "checking is free: check with k")
        return FOLD, at + 1
    if letter != "b":
        raise SlumbotRefusal("Unexpected character in action", f"{_quote(text)}, character {at + 1}")
    number = _NUMBER.match(text, at + 1)
    if number is None:
        raise SlumbotRefusal("Missing bet size", f"{_quote(text)}: write the chips after the b, e.g. b200")
    return _bet(betting, int(number.group())), number.end()


def _bet(betting: BettingState, chips: int) -> Action:
    refusal = betting.raise_refusal()
    if refusal is not None:
        raise SlumbotRefusal("Illegal bet", refusal)
    bounds = betting.raise_bounds()
    assert bounds is not None, "nothing was refused"
    earlier = _earlier_streets(betting)
    least, most = bounds[0] - earlier, bounds[1] - earlier
    if chips < least:
        raise SlumbotRefusal("Bet too small", f"b{chips}: bet b{least} to b{most}")
    if chips > most:
        raise SlumbotRefusal("Bet too big", f"b{chips}: bet b{least} to b{most}")
    return raise_to(chips + earlier)


def _earlier_streets(betting: BettingState) -> int:
    """Chips each player has put in before this street; the blinds belong to the first."""
    if betting.round_index == 0:
        return 0
    earlier = [action.raise_to for street in betting.actions[:-1] for action in street]
    return max([betting.definition.big_blind, *earlier])


def _quote(text: str) -> str:
    return repr(text if len(text) <= _QUOTED else text[:_QUOTED] + "…")
