"""Arrays in, strategies out: synchronous, and deterministic given a seed.

The rooms, lowest first. A room may import rooms on the lines above its own:

    games                         trees, hands, boards and ranges, as data
    exact, blueprint              solving to the end of the hand; the blueprint's file
    resolving, training, equity   solving subgames; training blueprints; all-in and showdown values
    leaves                        values at the end of a flop solve
    depth_limited                 solves that end at a depth limit
    decisions                     decisions, their settings and their limits
    flop_book                     flops solved in advance
    agent                         choice of the method and of the time for a decision

`version` is the version of Fathom.
"""
