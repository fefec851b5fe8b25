"""Measuring strength: the dealer, simple players, matches and reports."""
