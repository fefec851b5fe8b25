"""Solves that end at a depth limit, and warm starts of solves.

`solver.DepthLimitedSolver` solves one round with leaf values; `preflop` applies it to the first round, with
the table of `opponent_values`. `flop_start` and `turn_start` start a solve from the blueprint's strategies.
`self_generative` finds continuations for the opponent.

Imports `leaves`, `training`, `equity`, `blueprint`, `exact` and `games`.
"""
