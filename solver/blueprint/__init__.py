"""The blueprint: a strategy for the whole game, with buckets and few bet sizes, in one file.

`file.open_blueprint` opens a blueprint, and `default.default_blueprint_path` is the one that is included.
`walk.BlueprintWalk` follows a real hand through its tree and translates off-tree bets.
`abstract_game.TrainingGame` is the game it is a strategy of, and `thinning` removes bets from its tree.
`layout` and `kernels` are its arrays and kernels.

Imports `games`.
"""
