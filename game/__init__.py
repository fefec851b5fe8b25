"""The rules of the game, and nothing else: no strategy, no I/O."""
