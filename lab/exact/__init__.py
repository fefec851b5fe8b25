"""Exact references by linear programming: values, equilibria, restricted Nash responses.

Needs the extra `lab`.
"""
