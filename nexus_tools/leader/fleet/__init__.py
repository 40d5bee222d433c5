"""Several processes of one leader, which share a journal in PostgreSQL."""
