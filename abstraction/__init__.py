"""Fewer hands, fewer bets: bet menus, buckets and off-tree translation."""
