"""Parts that several command groups use. Begin with the group that imports them."""
