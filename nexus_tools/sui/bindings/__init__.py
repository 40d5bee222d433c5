"""Python for the Move code of others: `runtime` is what it imports, `generator` what writes it."""
