"""How good: losses of decisions, exploitability, win rates, and the correctness of the values behind them.

Begin with `play.py`, the loss of the agent's decisions as it makes them, and `strength.py`, its win rate.
"""
