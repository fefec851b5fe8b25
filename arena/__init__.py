"""Strength measurement: players, matches, the ACPC dealer, variance reduction and reports.

The rooms, lowest first. A room may import rooms on the lines above its own:

    runs          long measurements: processes, journals, confidence intervals
    dealer        the ACPC dealer
    players       players, and the registry of their names
    aivat         variance reduction
    duplicate     duplicate matches and their results
    lbr, report   local best response; reports

`errors` has the exceptions, and `push_fold_pool` evaluates players of push/fold.
"""
