"""Parts of commands: configuration flags, parsing of numbers, output files, grids, screens, progress bars.

`flops` makes flop books, for `fathom blueprint flops` and `fathom train --flops`. Nothing here is a command.
"""
