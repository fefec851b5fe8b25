"""The daemon's HTTP API: decode requests, call `server.play.table` and other services, encode responses.

`api.add_api` adds all routes. Each `..._routes` module has the handlers of one subject, and `openapi`
describes them. `guard` is the middleware for keys, limits and errors; `problems` lists the errors. `app_keys`
and `context` are what a handler finds in the application.

Imports all rooms except `daemon` and `cli`.
"""
