"""How much a store holds, and how much it may."""

from nexus_tools.bridges.unstract.object_store.fault import FaultError


class Quota:
    """Bytes and files (directories count too) that are used, of those that are allowed."""

    def __init__(self, max_bytes: int, max_files: int) -> None:
        self.max_bytes = max_bytes
        self.max_files = max_files
        self.used_bytes = 0
        self.used_files = 0

    def check(self, more_bytes: int) -> None:
        """Raise `FaultError` unless there is room for so many more bytes."""
        if self.used_bytes + more_bytes > self.max_bytes:
            raise FaultError("QuotaExceeded", f"the store holds at most {self.max_bytes} bytes")

    def take_bytes(self, count: int) -> None:
        """Count bytes before they are written."""
        self.check(count)
        self.used_bytes += count

    def take_file(self) -> None:
        """Count a file or directory before it is made."""
        if self.used_files >= self.max_files:
            raise FaultError("QuotaExceeded", f"the store holds at most {self.max_files} files")
        self.used_files += 1

    def give(self, *, size: int = 0, files: int = 0) -> None:
        """Count what is gone; what came into the tree by other ways may go uncounted."""
        self.used_bytes = max(0, self.used_bytes - size)
        self.used_files = max(0, self.used_files - files)
