"""Responding to a model of the opponent, with a dial between safety and exploitation.

`continual` goes through a game step by step and asks a `StepSolver` for each; `methods` names the responses
(CDBR, CDRNR, SES) and gadgets; `dial` mixes reaches by the trust p; `partition` makes the steps of a public
tree that is known as a whole; `values` is what a value function has to offer.

It knows no games: the lab's solvers over flat arrays use it, and a solver of betting trees can.
"""
