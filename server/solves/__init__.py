"""Solves of spots, for `fathom solve` and for the HTTP API.

`input` reads a question and `result` writes the answer. `jobs.SolveJobs` runs solves in separate processes,
each of which runs `worker`.

Imports `config`, not `matches` or `play`.
"""
