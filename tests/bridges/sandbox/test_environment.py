"""The part of the operator's environment that a tool receives."""

from dataclasses import dataclass, field

import pytest

from nexus_tools.bridges.sandbox import Confinement, environment_of

HOSTILE = {
    "AWS_ACCESS_KEY_ID": "AKIA",
    "AWS_SECRET_ACCESS_KEY": "secret",
    "DYLD_INSERT_LIBRARIES": "/tmp/evil.dylib",
    "GITHUB_TOKEN": "token",
    "HTTPS_PROXY": "http://proxy",
    "LD_LIBRARY_PATH": "/tmp",
    "LD_PRELOAD": "/tmp/evil.so",
    "NODE_OPTIONS": "--require evil",
    "PYTHONPATH": "/tmp",
    "PYTHONSTARTUP": "/tmp/evil.py",
    "SSH_AUTH_SOCK": "/tmp/agent",
    "SUI_PRIVATE_KEY": "suiprivkey",
    "USER": "operator",
    "VIRTUAL_ENV": "/venv",
    "http_proxy": "http://proxy",
}
PLAIN = {"PATH": "/bin:/usr/bin", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "TZ": "UTC"}
OWN = {
    "HOME",
    "TMPDIR",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
    "XDG_STATE_HOME",
}


@dataclass
class OperatorEnvironment:
    environment: dict
    shared: frozenset = frozenset()
    confinement: Confinement = field(default_factory=Confinement)


@pytest.fixture
def operator():
    return OperatorEnvironment({**HOSTILE, **PLAIN, "HOME": "/root", "TMPDIR": "/tmp"})


async def test_tool_sees_only_allowed_names(run_python, scratch, operator):
    make_result = await run_python(
        "import os\nfor name in sorted(os.environ): print(name, os.environ[name], sep='=')",
        environment=environment_of(operator, scratch=scratch),
    )

    environment = dict(line.split("=", 1) for line in make_result.stdout.decode().splitlines())
    assert environment.keys() == PLAIN.keys() | OWN
    assert {name: environment[name] for name in PLAIN} == PLAIN
    assert all(environment[name].startswith(str(scratch.folder)) for name in OWN)


def test_shared_names_are_passed(scratch, operator):
    operator.shared = frozenset({"HTTPS_PROXY", "NOT_SET"})

    environment = environment_of(operator, scratch=scratch)

    assert environment.keys() == PLAIN.keys() | OWN | {"HTTPS_PROXY"}


def test_declared_names_are_passed_if_set(scratch, operator):
    environment = environment_of(operator, scratch=scratch, declared=["GITHUB_TOKEN", "NOT_SET"])

    assert environment.keys() == PLAIN.keys() | OWN | {"GITHUB_TOKEN"}
    assert environment["GITHUB_TOKEN"] == "token"


def test_tool_cannot_declare_the_operators_home(scratch, operator):
    operator.shared = frozenset({"TMPDIR"})

    environment = environment_of(operator, scratch=scratch, declared=["HOME"])

    assert environment["HOME"] == str(scratch.home)
    assert environment["TMPDIR"] == str(scratch.temporary)


def test_extra_values_take_precedence(scratch, operator):
    environment = environment_of(
        operator, scratch=scratch, extra={"PATH": "/tool/bin", "KEY": "value"}
    )

    assert (environment["PATH"], environment["KEY"]) == ("/tool/bin", "value")


def test_path_is_always_set(scratch):
    assert environment_of(OperatorEnvironment({}), scratch=scratch)["PATH"]
