"""The papers' games, methods and tables, exact and small: what plays at the table is proven here first.

    games         rules of small games
    flat          games as flat arrays in sequence form, and the problem that all responses solve
    exact, cfr    linear programs; CFR and CFR+
    continual     responses step by step, with all gadgets, by the code in `responses`
    experiments   one module per table or figure: `fathom lab`

Imports `responses` and `numeric`. `exact` needs the extra `lab` (scipy).
"""
