"""Rules of small games.

`interface` is what is asked of rules. `drawn` has the games of the papers' figures.
"""
