"""Values at the end of a flop solve, one module per leaf method.

`learned.LearnedLeaves` learns turn and river during the solve (the default). `rollouts.BlueprintRollouts`
plays out the blueprint, and `adapted_rollouts.AdaptedRollouts` the strategies that were learned.
`value_net.NetLeaves` asks a net, which `value_training` trains on the inputs of `features`. Each is made from
a `flop_end.FlopEnd` and implements `depth_limited.solver.LeafValues`. `match` finds the node of the blueprint
for a leaf.

Imports `equity`, `blueprint`, `exact` and `games`.
"""
