"""Support for long measurements.

`workers.WorkerPool` runs processes, `journal.Journal` records what was played so that a run can be resumed,
and `chunks` divides what is left. `statistics` and `strata` compute means and confidence intervals.

Imports `arena.errors`.
"""
