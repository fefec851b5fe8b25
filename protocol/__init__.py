"""Bytes to frozen events and back, sans I/O."""
