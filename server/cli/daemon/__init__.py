"""Commands to run the daemon: start it, configure it, look at what it stored."""
