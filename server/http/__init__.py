"""The daemon's HTTP API: decode requests, call `server.table` and other services, encode responses."""
