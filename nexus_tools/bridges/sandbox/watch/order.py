"""What the watching program is told on its command line."""

# The number under which a program has the descriptor for its reply.
REPLY_DESCRIPTOR = 3


class Order:
    """One run: `name=value` for each of these slots, `--`, and the command.

    Bounds are as in `ProcessLimits`, `time_ms` is 0 where there is none. `report` and `reply` are
    descriptors, -1 for none; `directory` is empty for the one that the program is started in.
    """

    __slots__ = (
        "command",
        "directory",
        "disk_bytes",
        "files",
        "memory_bytes",
        "processes",
        "reply",
        "report",
        "scratch",
        "time_ms",
    )

    def __init__(self, arguments: list[str]) -> None:
        end = arguments.index("--")
        given = dict(argument.split("=", 1) for argument in arguments[:end])
        self.command: list[str] = arguments[end + 1 :]
        self.directory: str = given["directory"]
        self.scratch: str = given["scratch"]
        self.disk_bytes = int(given["disk_bytes"])
        self.files = int(given["files"])
        self.memory_bytes = int(given["memory_bytes"])
        self.processes = int(given["processes"])
        self.reply = int(given["reply"])
        self.report = int(given["report"])
        self.time_ms = int(given["time_ms"])
