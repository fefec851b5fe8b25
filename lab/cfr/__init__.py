"""CFR and CFR+: `solver` for saddle problems, `values` as a value function, `opponents` to respond to."""
