"""Configuration, and properties of this machine.

`config.Config` is the configuration of the daemon, one section per consumer; `reader` reads it from a file,
the environment and flags. `keys` handles API keys, `blueprint_choice` and `game_files` choose what is played,
and `machine` reports cores and memory.

Imports `store` (the default path).
"""
