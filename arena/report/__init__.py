"""Reports of matches and hands, for people and for other programs.

`report.make_report` counts and groups results; `html` and `png` draw them. `hand_story` describes a hand of
the agent, and `hand_words` its betting. `hand_files` writes logs and hand histories.

Imports `duplicate`, `players` and `runs`, not `lbr`.
"""
