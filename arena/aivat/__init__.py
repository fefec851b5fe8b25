"""AIVAT: variance reduction for hands of players whose strategy is known.

`aivat.corrected_value` is the method, for any `PublicGame`. `holdem.HoldemGame` is hold'em, with the value
guesses of `node_values`; `translation` handles off-tree bets, and `solved` uses the agent's own solves.
`hand.make_corrector` combines them for a match.

Imports `players`.
"""
