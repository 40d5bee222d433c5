"""Run a command of `nexus-tools` in a fork of the server.

The arguments are the path of the server's socket and the arguments of the command. This file needs
only the standard library, and imports little, because it starts once for each command.
"""

import json
import os
import signal
import socket
import sys

FORWARDED = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)


def main() -> None:
    """Pass the command and the standard streams to the server, and exit like the command."""
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(sys.argv[1])
    umask = os.umask(0)
    os.umask(umask)
    ignored = [number for number in FORWARDED if signal.getsignal(number) == signal.SIG_IGN]
    request = {
        "arguments": sys.argv[2:],
        "environment": dict(os.environ),
        "folder": os.getcwd(),  # noqa: PTH109 - the import of pathlib takes longer than the rest
        "umask": umask,
        "ignored": ignored,
    }
    signal.pthread_sigmask(signal.SIG_BLOCK, FORWARDED)
    for number in FORWARDED:
        if number not in ignored:
            signal.signal(number, lambda number, _: connection.sendall(bytes([number])))
    message = json.dumps(request).encode()
    socket.send_fds(connection, [len(message).to_bytes(4)], [0, 1, 2])
    connection.sendall(message)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, FORWARDED)
    answer = connection.recv(2)
    if not answer:
        sys.exit("the server of nexus-tools ended")
    status = int.from_bytes(answer, signed=True)
    if status < 0:
        if -status in FORWARDED:
            signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    os._exit(status)


main()
