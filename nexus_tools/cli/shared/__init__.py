"""Parts that several command groups use. Start with the group that imports them."""
