"""Forms that are generated from the input schemas of tools. Schemas are untrusted."""
