"""Commands to measure players, strategies and speed."""
