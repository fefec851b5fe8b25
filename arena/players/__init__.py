"""The players of the arena. A new player is a module here and an entry in `registry`.

`base` has the interfaces: `Player`, `HandPlayer`, and `OpenHandPlayer` for players that report their
strategy. `registry.make_player` makes a player from a text. `policies` are simple players;
`blueprint_player`, `agent_player` and `python_player` are the others, and `external_player` is another
program.

Imports `dealer` (an external player has a seat).
"""
