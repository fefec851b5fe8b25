"""Training blueprints with Monte Carlo counterfactual regret minimisation.

`run.TrainingRun` trains, reports and saves; `trainer.Trainer` is the algorithm, and `deals.HoldemDealer`
deals. `presets` lists trainings by name. `carried_training` resumes from a blueprint's file, `regrouping`
continues with other buckets, and `deal_response` measures the result by best responses.

Imports `blueprint` and `games`.
"""
