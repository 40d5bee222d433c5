"""From values of the ledger to messages: one file per kind of value, each after its read mask.

Every function fills a message that it is given; `mask` says which of its fields are wanted.
"""
