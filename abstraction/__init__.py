"""Abstractions of hands and bets: buckets, bet menus and translation of off-tree bets."""
