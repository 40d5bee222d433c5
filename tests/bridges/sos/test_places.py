import pytest

from nexus_tools.bridges.sos import SosBridge

TOOL = '@sos_tool\ndef one():\n    """One."""'


@pytest.mark.parametrize("place_of", ["ns/t.py", "ns", ".", "sos-system.yaml"])
async def test_files_folders_and_systems_are_recognised(place_of, write, write_system, place):
    write("ns/t.py", TOOL)
    write_system("action: {}")
    assert SosBridge().recognises(place / place_of)


async def test_python_without_the_decorator_is_not_recognised(place):
    (place / "plain.py").write_text("def one():\n    return 1\n")
    assert not SosBridge().recognises(place)
    assert not SosBridge().recognises(place / "plain.py")
    assert not SosBridge().recognises(place / "missing")


async def test_recognition_runs_nothing(write, place, tmp_path):
    write("ns/t.py", f"open({str(tmp_path / 'ran')!r}, 'w')\n" + TOOL)
    assert SosBridge().recognises(place)
    assert not (tmp_path / "ran").exists()


async def test_discovery_runs_nothing_in_the_server_process(write, discover):
    write("ns/t.py", "import os\nPID = os.getpid()\n" + TOOL + "\n    return PID")
    import os

    [tool] = (await discover()).tools
    assert (await tool.invoke({})).ports["result"] != {"result": os.getpid()}


async def test_modules_with_a_leading_underscore_have_no_tools(write, discover):
    write("ns/_hidden.py", TOOL)
    write("ns/t.py", TOOL.replace("one", "two"))
    assert [tool.fqn.name for tool in (await discover()).tools] == ["two"]


async def test_single_file_is_served_without_its_neighbours(write, discover):
    file = write("ns/a.py", TOOL)
    write("ns/b.py", TOOL.replace("one", "two"))
    assert [tool.fqn.name for tool in (await discover(file)).tools] == ["one"]


async def test_source_names_the_file_and_the_runtime(write, only_tool):
    file = write("ns/t.py", TOOL)
    assert (await only_tool()).source == f"{file}:one on own runtime"


async def test_removed_tool_is_an_err(write, only_tool):
    write("ns/t.py", TOOL)
    tool = await only_tool()
    write("ns/t.py", "x = 1  # sos_tool")
    outcome = await tool.invoke({})
    assert (outcome.variant, outcome.ports["type"]) == ("err", "RegistrationError")
