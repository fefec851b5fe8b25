"""The flop book: flops solved in advance, looked up while all bets are in the book's tree.

`book.open_book` opens a book for play. `lines` lists the pre-flop lines, `file` is the file format, and
`making` solves the entries.

Imports `decisions` and the rooms below it.
"""
