"""How fast Fathom is: the evaluator, buckets, training, solves, matches, the blueprint's file.

Seconds and rates on this machine. Begin with `solve.py`, the exact solver, and `mccfr.py`, the trainer.
"""
