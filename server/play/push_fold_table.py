"""Push/fold between people and the equilibrium: stacks of ten big blinds, one decision per hand, all logged.

1. Cards and the bot's random draws come from the operating system's randomness; all nine cards are drawn
   before the first action.
2. Positions alternate between the hands of a session. A hand must be finished before the next one is dealt:
   skipping bad hands would bias the log.
3. The bot's cards are shown only if both players went all-in.
4. Hands in progress are kept in memory only: after a restart a new hand is dealt.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random

from arena.push_fold_pool import BIG_BLIND_SEAT, SMALL_BLIND_SEAT, PoolDecision, PoolReport, pool_report
from game.cards import Cards
from game.hands import HAND_CLASS, hand_index
from game.showdown import showdown_rank
from server.play.table import token_digest
from server.store.hand_records import StoredPushFold
from server.store.hand_store import HandStore
from solver.equity.push_fold import BIG_BLIND, SMALL_BLIND, PushFold, solve_push_fold

STACK = 10.0
"""Stack in big blinds."""
MAX_SESSIONS = 5_000

_TOKEN_BYTES = 24
_DEALT = 9


class PushFoldError(Exception):
    """Base class of errors in requests; the message is for the client."""


class UnknownPushFoldError(PushFoldError):
    """No such session, or no hand has been dealt."""


class NotYourDecisionError(PushFoldError):
    """The hand is over, or is not the current one."""


@dataclass(frozen=True, slots=True)
class PushFoldHand:
    """One hand with everything known about it, including secrets."""

    number: int
    position: int
    """The person's position."""
    hole: Cards
    bot_hole: Cards
    board: Cards
    bot_all_in: bool
    """The bot's decision, drawn in advance, if it has to decide."""
    all_in: bool | None = None
    """Whether the person went all-in; None before that, and if the bot folded first."""

    @property
    def is_over(self) -> bool:
        """Whether all decisions have been made."""
        return self.all_in is not None or (self.position == BIG_BLIND_SEAT and not self.bot_all_in)

    @property
    def is_showdown(self) -> bool:
        """Whether both are all-in."""
        return self.all_in is True and self.bot_all_in

    @property
    def bot_has_acted(self) -> bool:
        """Whether the bot's decision is public."""
        return self.position == BIG_BLIND_SEAT or self.all_in is True

    def chips(self) -> float:
        """Big blinds the person won in a finished hand."""
        if self.is_showdown:
            ranks = [showdown_rank((*hole, *self.board)) for hole in (self.hole, self.bot_hole)]
            return STACK * ((ranks[0] > ranks[1]) - (ranks[0] < ranks[1]))
        if self.position == SMALL_BLIND_SEAT:
            return BIG_BLIND if self.all_in else -SMALL_BLIND
        return -BIG_BLIND if self.bot_all_in else SMALL_BLIND


@dataclass(slots=True)
class _Session:
    owner: str
    next_position: int
    dealt: int = 0
    hand: PushFoldHand | None = None


class PushFoldTable:
    """Plays push/fold with any number of people at once."""

    def __init__(
        self, store: HandStore, random: Random | None = None, wall: Callable[[], float] = time.time
    ) -> None:
        self._store = store
        self._random = random or secrets.SystemRandom()
        self._wall = wall
        self._sessions: OrderedDict[str, _Session] = OrderedDict()

    async def chart(self) -> PushFold:
        """The equilibrium; takes some seconds the first time, and longer if kernels must be compiled."""
        return await asyncio.to_thread(solve_push_fold, STACK)

    async def deal(self, token: str | None, owner: str) -> tuple[str, PushFoldHand]:
        """The session's token, and the next hand or the one in progress.

        An unknown token starts a new session.
        """
        solved = await self.chart()
        if token is None or token not in self._sessions or self._sessions[token].owner != owner:
            token = secrets.token_urlsafe(_TOKEN_BYTES)
            self._sessions[token] = _Session(owner, self._random.randrange(2))
            while len(self._sessions) > MAX_SESSIONS:
                self._sessions.popitem(last=False)
        session = self._sessions[token]
        self._sessions.move_to_end(token)
        if session.hand is None or session.hand.is_over:
            session.hand = self._new_hand(session, solved)
            session.dealt += 1
            session.next_position = 1 - session.next_position
            if session.hand.is_over:  # the bot folded its small blind
                await self._log(token, session)
        return token, session.hand

    async def act(self, token: str, owner: str, number: int, all_in: bool) -> PushFoldHand:
        """The person's decision; raises `PushFoldError`."""
        session = self._sessions.get(token)
        if session is None or session.owner != owner or session.hand is None:
            raise UnknownPushFoldError("no hand is in progress: deal one")
        if session.hand.is_over or session.hand.number != number:
            raise NotYourDecisionError("this hand is over: deal the next one")
        session.hand = replace(session.hand, all_in=all_in)
        await self._log(token, session)
        return session.hand

    async def report(self) -> PoolReport:
        """The equilibrium's result against everybody who has played here."""
        hands = await self._store.push_fold_hands()
        return await asyncio.to_thread(pool_report, STACK, pool_decisions(hands))

    def _new_hand(self, session: _Session, solved: PushFold) -> PushFoldHand:
        cards = tuple(self._random.sample(range(52), _DEALT))
        hole, bot_hole, board = cards[0:2], cards[2:4], cards[4:]
        strategy = solved.push if session.next_position == BIG_BLIND_SEAT else solved.call
        share = float(strategy[HAND_CLASS[hand_index(*bot_hole)]])
        return PushFoldHand(
            session.dealt, session.next_position, hole, bot_hole, board, self._random.random() < share
        )

    async def _log(self, token: str, session: _Session) -> None:
        hand = session.hand
        assert hand is not None
        await self._store.save(
            StoredPushFold(
                id=f"{token_digest(token)[:16]}-{hand.number}",
                owner=session.owner,
                at=self._wall(),
                stack=STACK,
                position=hand.position,
                hole=hand.hole,
                bot_hole=hand.bot_hole,
                board=hand.board,
                all_in=hand.all_in,
                bot_all_in=hand.bot_all_in if hand.bot_has_acted else None,
                chips=hand.chips(),
            )
        )


def pool_decisions(hands: list[StoredPushFold]) -> list[PoolDecision]:
    """The decisions people made; hands without one are left out."""
    return [
        PoolDecision(hand.position, hand_index(*hand.hole), hand.all_in)
        for hand in hands
        if hand.all_in is not None and hand.stack == STACK
    ]
