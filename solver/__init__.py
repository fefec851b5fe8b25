"""Arrays in, strategies out: synchronous, and deterministic given a seed."""
