"""Kernels of the exact solver. They know arrays, not poker objects, and do not check their input.

The entry is `walk.iterate`. Imports `numeric` and `games.layout`.
"""
