"""Solving to the end of the hand: counterfactual regret minimisation over all hands at once.

`solver.Solver` solves a `Game` and can be stopped at any time; its result is a `solution.Solution`. `engine`
owns threads and working memory, and `program` compiles a tree to the program that `kernels` run.
`exploitability.measure` measures a result, and `values.node_values` gives the value of every hand. `cut`
extracts a subtree, `symmetry` merges isomorphic boards, and `archive` saves a solve.

Imports `games`.
"""
