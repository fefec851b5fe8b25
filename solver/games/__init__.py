"""Games as data: betting trees, hands, boards and ranges, and the arrays that kernels read.

`tree.build_tree` makes a `Tree` of one or more streets, `betting_tree.build_hand_tree` one of a whole hand. A
`game.Game` joins a tree with hands and boards; `holdem.holdem_game` makes one for hold'em, `toys` makes Kuhn
and Leduc poker. `spot.Spot`, `paths` and `locks` parse what a user writes. `layout` defines the arrays of the
exact solver, and `history` converts a hand's betting to action codes of a tree.

Imports no other room.
"""
