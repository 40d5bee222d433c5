"""Commands of the page on the command line, typed as they stand there."""

import re
import shlex
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[3] / "docs" / "cli.md").read_text()


LOOKING = ["invocation list", "status", "doctor"]
CHANGING = ["wallet remove", "wallet transfer", "completion install"]


@pytest.mark.parametrize("command", LOOKING + CHANGING)
def test_the_console_block_of_a_command_goes_as_it_is_written(requester, command):
    section = re.search(rf"^### `nexus-tools {command}.*?(?=^##)", PAGE, re.MULTILINE | re.DOTALL)
    (block,) = re.findall(r"```console\n(.*?)```", section[0], re.DOTALL)
    for line in block.splitlines():
        program, *arguments = shlex.split(line.removeprefix("$ "))
        assert program == "nexus-tools"
        result = requester.run(*arguments)
        assert result.code == 0, result.stderr
