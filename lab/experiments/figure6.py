"""Figures 6 and 7: gain of CDBR by depth and of LBR, against unfinished CFR and random strategies."""

from __future__ import annotations

import math

from lab.cfr.net_values import NetTraining, error, train
from lab.cfr.opponents import random_strategy, unfinished
from lab.continual.local import local_best_response
from lab.continual.respond import Engine, net_engine, respond
from lab.experiments.measures import Duel, exactly
from lab.experiments.report import Claim, Curve, Figure, Plot, Report, Track, untracked
from lab.flat.registry import game_named
from lab.games.leduc import CALL, FOLD
from responses.methods import cdbr

DEPTHS = (1, 3, 5)
ITERATIONS = (1, 2, 4, 8, 16, 34, 64)
SEEDS = (1, 2, 3, 4, 5)
_KINDS = ("CFR", "random")
_ROUNDING = 1e-6
_STRONG = 34
"""CFR iterations from which on an opponent is too strong for the paper's LBR."""
_NEAR = 0.1
"""Share of the best response's gain by which LBR and CDBR1 may differ."""
_CLOSE = 0.05
"""Share of the best response's gain by which CDBRNN and CDBR1 may differ."""
_ITERATIONS = 1000
"""Of CFR+, for each step of CDBRNN."""
_UNSEEN = 20
"""New examples per public state by which the net is measured."""

Gains = dict[tuple[str, str, int], dict[str, float]]
"""Gain by method, by game, kind of opponent and its number."""


def run(quick: bool = False, track: Track = untracked) -> Report:
    """Leduc, Goofspiel and liar's dice; with less of each, and without the net, if it has to be quick."""
    names = ("leduc", "goofspiel4", "liars-dice4") if quick else ("leduc", "goofspiel5", "liars-dice4")
    iterations = ITERATIONS[::3] if quick else ITERATIONS
    seeds = SEEDS[:2] if quick else SEEDS
    gains: Gains = {}
    measured: list[Figure] = []
    for name in track(names):
        game, engine = game_named(name), None
        if name == "leduc" and not quick:
            net = train(game, NetTraining())
            wrong = error(net, NetTraining(examples=_UNSEEN), seed=2)
            measured.append(Figure("error of the net, of that of the mean", wrong))
            engine = net_engine(net, _ITERATIONS)
        for n in iterations:
            gains[name, "CFR", n] = _gains(Duel(game, unfinished(game, n)), engine)
        for seed in seeds:
            gains[name, "random", seed] = _gains(Duel(game, random_strategy(game, seed)), engine)
    plots = [_plot(name, "CFR", iterations, gains) for name in names]
    return Report(
        "Milec, Kubicek and Lisy, figures 6 and 7: share of the best response's gain, means over opponents",
        "",
        (
            *[
                _figure(name, kind, method, gains)
                for name in names
                for kind in _KINDS
                for method in gains[name, kind, 1]
                if method != "BR"
            ],
            *measured,
        ),
        _claims(iterations, gains),
        tuple(plots),
        (
            "random strategies have odds drawn evenly from all; the paper does not say how its are",
            "LBR is defined to make hands that fold often less likely after a call, and then it gains from"
            " all opponents here; what the paper says of strong opponents is true if it keeps the range",
        ),
    )


def _claims(iterations: tuple[int, ...], gains: Gains) -> tuple[Claim, ...]:
    mean = {
        (method, kind): _share("leduc", kind, method, gains)
        for method in gains["leduc", "CFR", 1]
        for kind in _KINDS
    }
    by_net = [mean["CDBRNN", kind] - mean["CDBR1", kind] for kind in _KINDS if ("CDBRNN", kind) in mean]
    close = Claim(
        f"CDBRNN gains what CDBR1 does to {_CLOSE:.0%} of the best response's gain, on average",
        all(abs(difference) < _CLOSE for difference in by_net),
    )
    return (
        Claim(
            "CDBR never gains less than nothing",
            all(each[f"CDBR{depth}"] >= -_ROUNDING for each in gains.values() for depth in DEPTHS),
        ),
        Claim(
            "a larger depth sometimes gains less",
            any(each["CDBR3"] < each["CDBR1"] or each["CDBR5"] < each["CDBR3"] for each in gains.values()),
        ),
        Claim(
            f"LBR gains what CDBR1 does to {_NEAR:.0%} of the best response's gain, on average",
            all(abs(mean["LBR", kind] - mean["CDBR1", kind]) < _NEAR for kind in _KINDS),
        ),
        Claim(
            "CDBR5 gains more than LBR, on average",
            all(mean["CDBR5", kind] > mean["LBR", kind] for kind in _KINDS),
        ),
        Claim(
            f"LBR that keeps the range gains nothing from opponents of {_STRONG} and more iterations",
            all(gains["leduc", "CFR", n]["LBR, range kept"] < 0 for n in iterations if n >= _STRONG),
        ),
        *([close] if by_net else []),
    )


def _gains(duel: Duel, by_net: Engine | None) -> dict[str, float]:
    found = {
        f"CDBR{depth}": duel.gain(respond(duel.game, duel.model, cdbr(), depth, exactly)) for depth in DEPTHS
    }
    if by_net is not None:
        found["CDBRNN"] = duel.gain(respond(duel.game, duel.model, cdbr(), 1, by_net))
    local = {
        name: duel.gain(local_best_response(duel.game, duel.model, FOLD, CALL, narrow))
        for name, narrow in _local(duel.game.name).items()
    }
    return {"BR": duel.most} | found | local


def _local(name: str) -> dict[str, bool]:
    """The kinds of LBR in a game, and whether they narrow ranges: poker alone has them."""
    return {"LBR": True, "LBR, range kept": False} if name == "leduc" else {}


def _figure(name: str, kind: str, method: str, gains: Gains) -> Figure:
    return Figure(f"{name} {method}, {kind}", _share(name, kind, method, gains))


def _share(name: str, kind: str, method: str, gains: Gains) -> float:
    """Of the best response's gain, the mean over opponents."""
    shares = [each[method] / each["BR"] for key, each in gains.items() if key[:2] == (name, kind)]
    return sum(shares) / len(shares)


def _plot(name: str, kind: str, numbers: tuple[int, ...], gains: Gains) -> Plot:
    methods = gains[name, kind, numbers[0]]
    curves = [Curve(m, tuple((math.log2(n), gains[name, kind, n][m]) for n in numbers)) for m in methods]
    return Plot(name, "CFR iterations of the opponent (log2)", "gain", tuple(curves))
