"""Kernels of leaf values. They know arrays, not poker objects, and do not check their input.

`rollout` and `learned` play on below a leaf, `steady` reduces the variance, and `class_values` belongs to the
net. Imports `numeric`, `games.layout` and the kernels of `exact`.
"""
