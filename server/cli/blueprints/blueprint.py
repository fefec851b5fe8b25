"""`fathom blueprint`: inspect, verify, measure and export blueprints, and plan new ones."""

from __future__ import annotations

import argparse
import csv
import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from math import isfinite
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from server.cli.blueprints.train import CARD_PRESET_NAMES
from server.cli.parts import flops
from server.cli.parts.numbers import whole_number
from server.cli.parts.outputs import check_output
from server.config.machine import usable_cores

if TYPE_CHECKING:
    from rich.console import Console

    from solver.blueprint.abstract_game import Dealer
    from solver.blueprint.file import Blueprint, Tick
    from solver.blueprint.provenance import Provenance
    from solver.depth_limited.opponent_values import ValueSettings
    from solver.games.tree import Tree

NODES_PER_SECOND = 17e6
"""One thread, `default` game, otherwise idle core of an AMD EPYC machine; larger tables are slower.
`fathom bench mccfr` measures your machine."""
LONGER_WALKS = 1.3
"""Traversals get longer as strategies become less uniform: the shipped blueprint took 1.27 times (with 500
buckets) and 1.31 times (with more) as long as the node count of a first traversal predicts."""

_EPILOG = """\
examples:
  fathom blueprint plan --preset default
  fathom blueprint info training-tiny/tiny.blueprint
  fathom blueprint verify blueprint.xz
  fathom blueprint export training-tiny/tiny.blueprint --round preflop > preflop.csv
  fathom blueprint measure training-tiny/tiny.blueprint
  fathom blueprint extract training-default early.blueprint
  fathom blueprint flops --line r300c --flops 200"""

_MEASURE_EPILOG = """\
The best response is computed on one sample of deals ("at most") and evaluated on a held-out sample ("at
least"). The two are close if many deals share their buckets, as in tiny. With hundreds of buckets hardly any
two do: the response overfits, and "at most" is what a player who sees all cards would win. Local best
response is more informative then: fathom lbr blueprint:FILE."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommands and their arguments."""
    parser.epilog = _EPILOG
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    for name, summary in (
        ("info", "show a blueprint's game, size, training and provenance"),
        ("verify", "read the whole file; check its checksums and that probabilities add up to 1"),
        ("export", "print every probability as CSV: history,bucket,action,probability"),
        ("measure", "measure exploitability in the abstract game, by best response on sampled deals"),
        ("pack", "compress a blueprint for shipping"),
    ):
        verb = verbs.add_parser(name, help=summary, description=summary)
        verb.add_argument(
            "file",
            type=Path,
            nargs=None if name == "pack" else "?",
            help="a .blueprint file"
            if name == "pack"
            else "a .blueprint file, compressed or not (default: FATHOM_BLUEPRINT, or the shipped one)",
        )
        if name == "info":
            verb.add_argument("--json", action="store_true", help="print one JSON object")
        elif name == "export":
            rounds = ("preflop", "flop", "turn", "river")
            verb.add_argument("--round", choices=rounds, help="one round only (all rounds make a large file)")
        elif name == "measure":
            verb.add_argument(
                "--deals",
                type=whole_number(100),
                default=10_000_000,
                help="deals to sample (default: %(default)s)",
            )
            verb.add_argument(
                "--seed", type=whole_number(0), default=1, help="random seed of the deals (default: 1)"
            )
            verb.epilog = _MEASURE_EPILOG
            verb.add_argument("--json", action="store_true", help="print one JSON object")
        elif name == "pack":
            verb.add_argument("packed", type=Path, help="the new file, e.g. default.blueprint.xz")
    extract = verbs.add_parser(
        "extract", help="write the current blueprint of a training, which may still be running"
    )
    extract.add_argument("folder", type=Path, help="the training's folder, as given to --checkpoint")
    extract.add_argument("file", type=Path, help="output file; packed if it ends in .xz")
    extract.add_argument(
        "--carry", action="store_true", help="include the training state, so that training can continue"
    )
    values = verbs.add_parser("values", help="add the opponent values used to solve the first round")
    values.add_argument("file", type=Path, help="the blueprint")
    values.add_argument(
        "target", type=Path, help="output file, may be the same file; packed if it ends in .xz"
    )
    values.add_argument(
        "--strategies",
        type=whole_number(),
        default=10,
        help="opponent strategies per seat (default: %(default)s)",
    )
    values.add_argument(
        "--iterations",
        type=whole_number(),
        default=8_000_000,
        help="iterations to learn each strategy (default: %(default)s)",
    )
    values.add_argument(
        "--deals",
        type=whole_number(),
        default=400_000,
        help="deals to evaluate the strategies on (default: %(default)s)",
    )
    values.add_argument("--seed", type=whole_number(0), default=1, help="random seed (default: %(default)s)")
    values.add_argument(
        "--threads",
        type=whole_number(),
        default=usable_cores(),
        help="threads; 1 makes the table reproducible (default: %(default)s)",
    )
    net = verbs.add_parser("net", help="train the value net that agents with leaf=net use on the flop")
    net.add_argument(
        "file",
        type=Path,
        nargs="?",
        help="the blueprint (default: FATHOM_BLUEPRINT, or the shipped one)",
    )
    net.add_argument(
        "--target", type=Path, help="output file (default: in Fathom's cache, where agents look for it)"
    )
    net.add_argument(
        "--flops",
        type=whole_number(),
        default=400,
        help="training flops; about a second each (default: %(default)s)",
    )
    net.add_argument(
        "--epochs", type=whole_number(), default=15, help="training epochs (default: %(default)s)"
    )
    net.add_argument("--seed", type=whole_number(0), default=1, help="random seed (default: %(default)s)")
    net.add_argument("--json", action="store_true", help="print one JSON object")
    flops.configure(verbs.add_parser("flops", help=flops.SUMMARY, description=flops.SUMMARY))
    plan = verbs.add_parser("plan", help="estimate a training's nodes, infosets, bytes and hours")
    plan.add_argument("--preset", default="default", help="tiny, default or paper (default: default)")
    plan.add_argument("--cards", help=f"card abstraction (default: the preset's own): {CARD_PRESET_NAMES}")
    plan.add_argument(
        "--threads", type=whole_number(), default=usable_cores(), help="threads (default: all, %(default)s)"
    )
    plan.add_argument("--json", action="store_true", help="print one JSON object")


def run(args: argparse.Namespace) -> int:
    """Run the chosen verb."""
    if args.verb in ("info", "verify", "export", "measure", "net", "flops") and args.file is None:
        from solver.blueprint.default import default_blueprint_path

        args.file = default_blueprint_path()
    verbs = {"plan": _plan, "info": _info, "verify": _verify, "export": _export, "measure": _measure}
    verbs |= {"pack": _pack, "extract": _extract, "values": _values, "net": _net, "flops": _flops}
    return verbs[args.verb](args)


def _plan(args: argparse.Namespace) -> int:
    from abstraction.presets import named_card_preset
    from solver.training.presets import estimate_cost, named_preset

    preset = named_preset(args.preset)
    if args.cards:
        preset = replace(preset, cards=named_card_preset(args.cards).name)
    cost = estimate_cost(preset.game())
    nodes = 2 * preset.iterations * cost.nodes_per_traversal * LONGER_WALKS
    facts = {
        "preset": preset.name,
        "menus": preset.menus,
        "buckets": list(preset.num_buckets),
        "betting_nodes": sum(cost.decision_nodes),
        "betting_nodes_by_round": list(cost.decision_nodes),
        "infosets": cost.infosets,
        "actions": cost.actions,
        "memory_bytes": cost.memory_bytes,
        "checkpoint_bytes": cost.checkpoint_bytes,
        "artifact_bytes": cost.artifact_bytes,
        "artifact_is_without": "carried training (--carry), first-round table (--values)",
        "iterations": preset.iterations,
        "threads": args.threads,
        "expected_hours": round(nodes / (NODES_PER_SECOND * args.threads) / 3600, 3),
        "assumed_nodes_per_s_and_thread": NODES_PER_SECOND,
    }
    return _print_facts(facts, args.json)


def _info(args: argparse.Namespace) -> int:
    blueprint = _open(args.file)
    tree, origin = blueprint.tree, blueprint.provenance
    facts = {
        "file": str(blueprint.path),
        "bytes": blueprint.path.stat().st_size,
        "menus": blueprint.menus,
        "stacks": list(blueprint.definition.stacks),
        "blinds": list(blueprint.definition.blinds),
        "buckets": list(blueprint.num_buckets),
        "betting_nodes": sum(nodes for nodes, _ in tree.decision_counts()),
        "probabilities": len(blueprint.bytes),
        "cards": blueprint.cards.digest,
        "preset": origin.preset,
        "seed": origin.seed,
        "iterations": origin.iterations,
        "regrouped": _regroupings(origin, args.json),
        "threads": origin.threads,
        "core_hours": origin.core_hours,
        "date": origin.date,
        "fathom": origin.fathom,
        "carries_training": blueprint.training is not None,
        "opponent_strategies": _strategies(blueprint),
        "settings": {name: value if isfinite(value) else None for name, value in origin.settings.items()},
    }
    return _print_facts(facts, args.json)


def _regroupings(origin: Provenance, as_json: bool) -> object:
    if as_json:
        return [regrouping._asdict() for regrouping in origin.regrouped]
    told = [f"after {iterations:,} iterations, from {buckets}" for iterations, buckets in origin.regrouped]
    return "; ".join(told) or "never"


def _strategies(blueprint: Blueprint) -> int:
    """The number of opponent strategies in the table for the first round; 0 without a table."""
    from solver.depth_limited.opponent_values import read_values

    tables = read_values(blueprint)
    return 0 if tables is None else tables[0].values.shape[1]


def _verify(args: argparse.Namespace) -> int:
    from solver.blueprint.file import verify_blueprint

    with _bar("unpacking") as tick:
        blueprint = verify_blueprint(args.file, tick)
    print(f"{args.file}: valid; {len(blueprint.bytes):,} probabilities, every infoset adds up to 1")
    return 0


def _export(args: argparse.Namespace) -> int:
    import numpy as np

    from solver.games.tree import DECISION

    blueprint = _open(args.file)
    tree = blueprint.tree
    rounds = {"preflop": 0, "flop": 1, "turn": 2, "river": 3}
    writer = csv.writer(sys.stdout)
    writer.writerow(["history", "bucket", "action", "probability"])
    for node in np.flatnonzero(tree.kind == DECISION):
        if args.round and tree.round[node] != rounds[args.round]:
            continue
        history = _history_text(tree, int(node))
        actions = [_action_text(a) for a in tree.actions_of(int(node))]
        for bucket, column in enumerate(blueprint.rows(int(node)).T.tolist()):
            for action, byte in zip(actions, column, strict=True):
                writer.writerow([history, bucket, action, f"{byte / 255:.4f}"])
    return 0


def _measure(args: argparse.Namespace) -> int:
    import numpy as np
    from rich.console import Console
    from rich.progress import Progress

    from abstraction.tables import open_tables
    from solver.blueprint.abstract_game import new_deals
    from solver.training.deal_response import respond, uniform_strategy
    from solver.training.deals import HoldemDealer
    from solver.training.trainer import batch_seed

    blueprint = _open(args.file)
    game = blueprint.training_game
    deals = new_deals(args.deals, game.num_rounds)
    state = np.array([batch_seed(args.seed, 2**62)], dtype=np.uint64)  # not the number of any training batch
    threads, start = usable_cores(), time.perf_counter()
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        HoldemDealer(open_tables(blueprint.cards, progress=progress)).fill(state, deals)
        task = progress.add_task("responding to the blueprint", total=2)
        found = respond(game, blueprint.table(), deals, held_out=0.2, threads=threads)
        progress.update(task, completed=1, description="responding to uniform play")
        uniform = respond(game, uniform_strategy(game), deals, held_out=0.2, threads=threads)
    facts = {
        "file": str(args.file),
        "deals": args.deals,
        "exploitability_at_most_bb": round(found.exploitability, 4),
        "exploitability_at_least_bb": round(found.held_out_exploitability, 4),
        "uniform_at_least_bb": round(uniform.held_out_exploitability, 4),
        "share_of_uniform_at_most": round(found.exploitability / uniform.held_out_exploitability, 4),
        "seconds": round(time.perf_counter() - start, 1),
    }
    return _print_facts(facts, args.json)


def _pack(args: argparse.Namespace) -> int:
    from solver.blueprint.file import pack

    with _bar("packing") as tick:
        size = pack(args.file, args.packed, tick)
    print(f"{args.packed}: {size:,} bytes")
    return 0


def _extract(args: argparse.Namespace) -> int:
    from solver.training.carried_training import fold_in
    from solver.training.run import extract

    check_output("extract", args.file)
    with _plain_file(args.file) as plain:
        found = extract(args.folder, plain, fold_in if args.carry else None)
    print(f"{args.file}: {found.iterations:,} iterations, {args.file.stat().st_size:,} bytes")
    if not found.is_average:
        print(
            "averaging has not begun: the file holds the current strategy, which is weaker than the average"
        )
    return 0


def _open(path: Path) -> Blueprint:
    from solver.blueprint.file import open_blueprint

    with _bar("unpacking") as tick:
        return open_blueprint(path, tick=tick)


@contextmanager
def _bar(label: str) -> Iterator[Tick]:
    """A progress bar on stderr, shown from the first step and always removed at the end."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    progress = Progress(console=console, transient=True, disable=not console.is_terminal)
    task = progress.add_task(label, total=None)

    def tick(done: int, total: int) -> None:
        progress.start()
        progress.update(task, completed=done, total=total)

    try:
        yield tick
    finally:
        progress.stop()


@contextmanager
def _plain_file(target: Path) -> Iterator[Path]:
    """The path to write a blueprint to: the target itself, or a temporary file packed into an .xz target."""
    from solver.blueprint.file import pack

    if target.suffix != ".xz":
        yield target
        return
    with TemporaryDirectory(dir=target.absolute().parent) as folder, _bar("packing") as tick:
        plain = Path(folder) / target.stem
        yield plain
        pack(plain, target, tick)


def _history_text(tree: Tree, node: int) -> str:
    """The betting in ACPC notation, a slash between rounds: r300c/cr400."""
    from solver.games.tree import CHANCE

    text, path = "", []
    while node > 0:
        path.append(node)
        node = int(tree.parent[node])
    for step in reversed(path):
        if tree.action[step] >= -1:
            text += _action_text(int(tree.action[step]))
        if tree.kind[step] == CHANCE:
            text += "/"
    return text


def _action_text(code: int) -> str:
    return {-1: "f", 0: "c"}.get(code, f"r{code}")


def _values(args: argparse.Namespace) -> int:
    from rich.console import Console
    from rich.progress import Progress

    from abstraction.tables import open_tables
    from solver.depth_limited.opponent_values import ValueSettings
    from solver.training.deals import HoldemDealer

    check_output("values", args.target)
    settings = ValueSettings(
        args.strategies, args.iterations, args.deals, seed=args.seed, threads=args.threads
    )
    blueprint, started = _open(args.file), time.perf_counter()
    console = Console(stderr=True)
    with Progress(console=console, transient=True) as progress:
        dealer = HoldemDealer(open_tables(blueprint.cards, progress=progress))
    with _plain_file(args.target) as plain:
        add_values(blueprint, plain, dealer, settings, console)
    seconds, size = time.perf_counter() - started, args.target.stat().st_size
    print(f"{args.target}: {size:,} bytes, {args.strategies} strategies in each seat in {seconds:,.0f} s")
    return 0


def add_values(
    blueprint: Blueprint, target: Path, dealer: Dealer, settings: ValueSettings, console: Console
) -> int:
    """Write the blueprint with the opponent values for solving the first round; returns the file's size."""
    from rich.progress import Progress

    from solver.blueprint.file import add_tables
    from solver.depth_limited.opponent_values import make_opponent_values, pack_values

    with Progress(console=console, transient=True) as progress:
        task = progress.add_task("values", total=1.0)
        tables = make_opponent_values(
            blueprint,
            dealer,
            settings,
            lambda text, done: progress.update(task, description=text, completed=done),
        )
    return add_tables(blueprint.path, target, pack_values(tables))


def _net(args: argparse.Namespace) -> int:
    from dataclasses import asdict

    from rich.console import Console
    from rich.progress import Progress

    from solver.leaves.value_net import net_path
    from solver.leaves.value_training import NetTraining, train_net

    check_output("--target", args.target)
    blueprint = _open(args.file)
    training = NetTraining(flops=args.flops, epochs=args.epochs, seed=args.seed)
    started = time.perf_counter()
    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("net", total=1.0)
        net, quality = train_net(
            blueprint,
            training,
            lambda text, done: progress.update(task, description=text, completed=done),
        )
    target = args.target or net_path(blueprint)
    net.save(target)
    facts: dict[str, object] = {"file": str(target), **asdict(quality)}
    facts["seconds"] = round(time.perf_counter() - started, 1)
    return _print_facts(facts, args.json)


def _flops(args: argparse.Namespace) -> int:
    return _print_facts(flops.make_book(args, _open(args.file)), args.json)


def _print_facts(facts: dict[str, object], as_json: bool) -> int:
    if as_json:
        print(json.dumps(facts))
        return 0
    width = max(map(len, facts))
    for name, value in facts.items():
        if isinstance(value, bool):
            words = "yes" if value else "no"
        else:
            words = f"{value:,}" if isinstance(value, int | float) else str(value)
        print(f"{name:{width}}  {words}")
    return 0
