"""The daemon and the command line: everything that does I/O.

The rooms, lowest first. A room may import rooms on the lines above its own:

    store                   the hand store
    config                  configuration, keys, properties of this machine
    telemetry               logs and metrics
    pool                    worker processes that decide
    matches, play, solves   matches on dealers and Slumbot; hands with people; solves on request
    http                    the HTTP API and the web pages
    daemon                  the daemon as a whole
    cli                     the command `fathom`

`decisions`, below all rooms, defines the request for a decision and the answer. `client` is an HTTP client,
`healthcheck` is for containers, and `web` has the files of the web pages.
"""
