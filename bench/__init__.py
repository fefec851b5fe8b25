"""Benchmarks in three rooms: `speed`, `quality` of strategies, and `robustness`.

A benchmark is a module of a room with `main(argv)` that prints one JSON line. Its name is the name of the
figure in `fathom bench NAME`. A module whose name begins with `_` is a part of benchmarks. If the defaults
take more than half a minute, the module defines `QUICK`, the options that `fathom bench all` and `make bench`
pass to it. What all of them share is in `figures.py`. Only the command line imports benchmarks.
"""
