"""Games as flat arrays in sequence form.

`game` is the arrays, `compile` makes them from rules, `registry` by name. `plans` computes what strategies
are worth, with the loops of `kernels`. `saddle` is the problem that equilibria and all responses solve.
"""
