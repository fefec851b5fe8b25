"""Strength measurement: players, matches, the ACPC dealer, variance reduction and reports."""
