"""Commands to measure players, strategies and speed, and to reproduce the papers.

`named` finds benchmarks and experiments by name: nothing else depends on them.
"""
