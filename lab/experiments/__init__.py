"""One module per table or figure: the paper's figures beside ours, and whether its claim holds.

A module without curves to draw says `CURVES = False`.
"""
