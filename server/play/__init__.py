"""Hands between people and the bot, independent of HTTP.

`table.Table` plays whole hands, `push_fold_table.PushFoldTable` push/fold.

Imports `store`, not `matches` or `solves`.
"""
