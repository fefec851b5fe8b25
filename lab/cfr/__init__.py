"""CFR and CFR+: `solver` for saddle problems, `values` as a value function, `opponents` to respond to.

`net` is a small neural net, `net_values` a value function by one that was trained on values of CFR+.
"""
