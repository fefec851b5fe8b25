"""Local best response: a lower bound on what a player can lose.

`run.measure_lbr` runs a measurement, `lbr.LocalResponse` chooses actions, and `value` evaluates deals.
`cards` and `range_showdown` compute its equities.

Imports `duplicate`, `players` and `runs`, not `report`.
"""
