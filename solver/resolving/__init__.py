"""Subgame solving: solving a part of a hand again, given what happened before it.

`root.find_root` finds the root of a nested solve and the ranges there. A `context.Context` carries over from
one decision to the next, and `ranges` updates ranges by Bayes' rule. `subgame.Subgame` is a part of a
solution as a game of its own; `alternatives` are the values promised to the opponent in a safe subgame.

Imports `exact` and `games`.
"""
