"""A warm agent has compiled everything."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.arena.blueprints import WIDE, made_up_blueprint

ROOT = Path(__file__).resolve().parents[3]
SCRIPT = """
import gc, sys
from pathlib import Path
from numba.core.dispatcher import Dispatcher
from arena.players.agent_player import AgentPlayer
from arena.duplicate.pairs import deal_pair
from arena.players.policies import POLICIES
from game.betting import start
from game.definition import HUNL
from game.state import hand_state
from random import Random
from solver.agent.agent import Agent
from solver.decisions.settings import make_settings
from solver.blueprint.file import open_blueprint
from solver.decisions.explanation import explain

def compiled():
    return {(d.py_func.__module__, d.py_func.__name__, str(s)) for d in gc.get_objects()
            if isinstance(d, Dispatcher) for s in d.overloads}

blueprint = open_blueprint(Path(sys.argv[1]))
Agent(blueprint).warm_up()
deal_pair(HUNL, 1, 0)
before = compiled()
player, rng = AgentPlayer("agent", Agent(blueprint, make_settings(iterations=3))), Random(1)
for number in range(12):
    hand, position = player.start_hand(number), number % 2
    hole, board = deal_pair(HUNL, 1, number)
    state = hand_state(start(HUNL), hole, board)
    while not state.betting.is_finished:
        actor = state.betting.actor
        policy = POLICIES["random" if number % 3 else "call"]
        state = state.apply(hand.act(state, actor) if actor == position else policy(state, actor, rng))
    for decision in hand.decisions.values():
        explain(decision, 5)
print(sorted(compiled() - before))
"""


def test_nothing_is_compiled_after_warming_up(tmp_path: Path) -> None:
    blueprint = made_up_blueprint(tmp_path, WIDE)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(blueprint.path)],
        env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.strip() == "[]"
