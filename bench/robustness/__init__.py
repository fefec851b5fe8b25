"""How well Fathom withstands load, faults, odd bets and junk bytes, and whether its rules are right.

Begin with `faults.py`, a whole match while workers are killed and connections cut.
"""
