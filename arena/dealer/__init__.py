"""The ACPC dealer: a match between two programs that connect to it.

`dealer.run_dealer` is the program and `match.Match` the match. `seats` are the sockets, `deck` deals the
reference dealer's cards, and `clock` keeps its time limits. `transactions` and `transcript` are its files.

Imports `runs`.
"""
