"""Programs in Move written by chance, every one of which has a type and ends."""
