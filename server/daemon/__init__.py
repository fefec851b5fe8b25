"""The daemon as a whole.

`process.serve` runs it, `app.make_app` makes the application, and `preflight.verify_config` checks a
configuration without starting it.

Imports all rooms except `cli`.
"""
