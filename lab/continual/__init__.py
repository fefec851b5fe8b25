"""Responses in flat games.

`respond` gives `responses.continual` a solver of steps; `gadgets` makes subgames below a gadget.
`local` is local best response, which goes step by step but solves nothing.
"""
