"""All-in and showdown values: exact means over boards.

`all_in` is for two hands or two ranges all-in, `class_pairs` for the 169 classes of starting hands, and
`beliefs` and `river` for weights of all hands of both players. `push_fold.solve_push_fold` solves push/fold
with them.

Imports `blueprint` (its arrays).
"""
