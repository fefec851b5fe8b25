"""How Fathom holds: the daemon under load and faults, bets of every size, junk bytes, and the rules.

Begin with `faults.py`, a whole match while workers are killed and connections cut.
"""
