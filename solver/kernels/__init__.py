"""Numba kernels over flat arrays. They know arrays, not poker objects, and do not check their input."""
