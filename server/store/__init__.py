"""The hand store: hands and decisions in one SQLite file.

`hand_store.HandStore` writes and `hand_reader.HandReader` reads. `hand_records` defines the records,
`hand_tables` their tables.

Imports `server.decisions`.
"""
