"""Commands to play: on a dealer, against Slumbot, or to watch."""
