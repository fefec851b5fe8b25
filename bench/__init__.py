"""Speed and quality figures: each module prints one JSON line. Only the command line reaches in here.

A figure is a module with `main(argv)`. One that takes more than half a minute with its defaults has `QUICK`,
the options that `fathom bench all` and `make bench` give it.
"""
