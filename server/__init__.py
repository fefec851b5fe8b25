"""The daemon and the command line: sockets, sessions and everything that waits."""
