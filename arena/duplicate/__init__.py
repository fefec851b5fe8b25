"""Duplicate matches: every deal is played twice, with the seats exchanged.

`duplicate.play_duplicate` plays a match, `pairs.play_pair` one deal, `fast_duel` a match of two blueprints in
a kernel, and `line_duel` hands from the flop on. The result is a `results.MatchResult`; `all_in`, `adjusted`
and `aivat_match` reduce its variance.

Imports `aivat`, `players` and `runs`.
"""
