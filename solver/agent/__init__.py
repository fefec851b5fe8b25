"""The agent: choice of the method and of the time for a decision.

The entry is `agent.Agent.decide`. `street_solves.StreetSolves` solves flops, turns and rivers, and
`preflop_solves.SolvedPreflop` the first round; `street_lookup` and `preflop_lookup` read the blueprint
instead. `leaf_values` makes the leaf values of flop solves. `pace` measures the speed of this machine, and
`time_bank.MatchClock` divides the time of a match.

Imports every other room of the solver except `training`.
"""
