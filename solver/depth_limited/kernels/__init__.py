"""Kernels of depth-limited solves. They know arrays, not poker objects, and do not check their input.

`first_round` is a pass over the round that is solved, `starts` a warm start, and `leaf_tables` the values of
fixed strategies. Imports `numeric`, `games.layout`, the arrays of `blueprint` and the kernels of `exact`.
"""
