"""`fathom story`: watch the agent play hands and read what it thought."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from server.cli.numbers import whole_number

_EPILOG = """\
Each hand is told in Markdown: what the agent saw, what it believed of the opponent, what each action was
worth, what it did.
At the end: what a poker player would frown at, hands that cannot lose folded or hands that cannot win called.

examples:
  fathom story                                        one hand against itself, on the screen
  fathom story --hands 10 --folder docs/hands --against pot-odds
  fathom story --agent agent,budget=10 --seed 7"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare arguments."""
    parser.add_argument("--agent", default="agent", help="who is watched (default: %(default)s)")
    parser.add_argument("--against", help="any player of `fathom match` (default: the agent itself)")
    parser.add_argument("--hands", type=whole_number(), default=1, help="default: %(default)s")
    parser.add_argument(
        "--seed", type=whole_number(0), default=1, help="of the first hand (default: %(default)s)"
    )
    parser.add_argument("--folder", type=Path, help="write a file for each hand instead of printing")
    parser.epilog = _EPILOG


def run(args: argparse.Namespace) -> int:
    """Play and tell."""
    from arena.agent_player import AgentPlayer
    from arena.hand_story import oddities, play_story, tell
    from arena.registry import make_player
    from game.definition import HUNL

    agent = make_player(args.agent)
    if not isinstance(agent, AgentPlayer):
        raise ValueError(f"{args.agent} does not think aloud: name an agent, e.g. agent,budget=5")
    opponent = agent if args.against is None else make_player(args.against)
    if args.folder is not None:
        try:
            args.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ValueError(
                f"--folder {args.folder}: cannot be made ({error.strerror}): name another"
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
        print("nothing to frown at", file=sys.stderr)
    return 0
