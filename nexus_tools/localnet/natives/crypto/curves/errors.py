"""What is wrong with the bytes of an element."""


class InvalidElement(Exception):  # noqa: N818 - it says what was given
    """These bytes are no element of the group, or a scalar that has no inverse."""
