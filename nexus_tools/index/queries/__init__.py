"""Queries of an index. Each query reads a bounded number of rows."""
