"""Benchmarks of speed and quality. Each module prints one JSON line; only the command line imports them.

A benchmark is a module with `main(argv)`. If its defaults take more than half a minute, it defines `QUICK`,
the options that `fathom bench all` and `make bench` pass to it.
"""
