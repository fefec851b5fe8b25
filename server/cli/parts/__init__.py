"""Parts of commands: parsing of numbers, output files, grids, screens and progress bars.

`flops` makes flop books, for `fathom blueprint flops` and `fathom train --flops`. Nothing here is a command.
"""
