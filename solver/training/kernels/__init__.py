"""Kernels of training. They know arrays, not poker objects, and do not check their input.

The entry is `mccfr.train_batch`. Imports `numeric` and the arrays of `blueprint`.
"""
