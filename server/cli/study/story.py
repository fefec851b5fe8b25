"""`fathom story`: let the agent play hands and print its reasoning."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from server.cli.parts.numbers import whole_number

_EPILOG = """\
Each hand is printed as Markdown: the situation, the opponent's estimated range, the value of each action, and
the agent's choice. At the end come oddities, such as folding a hand that cannot lose or calling with one that
cannot win.

examples:
  fathom story                                        one hand against itself, printed
  fathom story --hands 10 --folder docs/hands --against pot-odds
  fathom story --agent agent,budget=10 --seed 7"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare arguments."""
    parser.add_argument(
        "--agent", default="agent", help="the agent, as in `fathom match` (default: %(default)s)"
    )
    parser.add_argument(
        "--against", help="the opponent, any player of `fathom match` (default: the agent itself)"
    )
    parser.add_argument(
        "--hands", type=whole_number(), default=1, help="hands to play (default: %(default)s)"
    )
    parser.add_argument(
        "--seed",
        type=whole_number(0),
        default=1,
        help="random seed of the first hand; later hands count up (default: %(default)s)",
    )
    parser.add_argument("--folder", type=Path, help="write one file per hand here instead of printing")
    parser.epilog = _EPILOG


def run(args: argparse.Namespace) -> int:
    """Play the hands and print their stories."""
    from arena.players.agent_player import AgentPlayer
    from arena.players.registry import make_player
    from arena.report.hand_story import oddities, play_story, tell
    from game.definition import HUNL

    agent = make_player(args.agent)
    if not isinstance(agent, AgentPlayer):
        raise ValueError(f"--agent {args.agent}: only agents explain their decisions: try agent,budget=5")
    opponent = agent if args.against is None else make_player(args.against)
    if args.folder is not None:
        try:
            args.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ValueError(
                f"--folder {args.folder}: cannot be created ({error.strerror}): choose another"
            ) from None
    strange: list[str] = []
    for seed in range(args.seed, args.seed + args.hands):
        story = play_story(agent, opponent, HUNL, seed)
        strange += oddities(story)
        if args.folder is None:
            print(tell(story))
        else:
            path = args.folder / f"hand-{seed}.md"
            path.write_text(tell(story), encoding="utf-8")
            print(f"{path}: {story.state.betting.text}, {story.chips:+,} chips", file=sys.stderr)
    for text in strange:
        print(f"odd: {text}", file=sys.stderr)
    if not strange:
        print("no oddities", file=sys.stderr)
    return 0
