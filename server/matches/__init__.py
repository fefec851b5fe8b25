"""Matches on ACPC dealers and on Slumbot.

`acpc_match.AcpcMatch` is one match as a task of the event loop, `manager.MatchManager` runs those of the
daemon, and `recorder` stores their hands. Commands play `agent_match`, `dealer_match`, `versus`,
`acpc_client` and `slumbot_match` without the daemon.

Imports `pool`, `telemetry`, `config` and `store`, not `play` or `solves`.
"""
