"""The daemon's HTTP API: bodies in, calls of `server.table` and others, bodies out."""
