"""Logs, metrics, and recent values for the dashboard.

`metrics.Metrics` has all metrics. Only `logs.configure_logging` configures logging.

Imports `config` and `store`.
"""
