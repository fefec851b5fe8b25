"""Decisions, their settings and limits, and what is reported about them.

A `decision.Decision` has the strategy of every hand and what is known of both players;
`range_strategy.RangeStrategy` is the strategy alone. `settings.AgentSettings` and `limits.Limits` say how a
decision is made. `look_up` reads one from a table, `explanation` and `convergence` report on it.

Imports `resolving`, `leaves`, `exact` and `games`.
"""
