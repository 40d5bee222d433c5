import os
import shutil

from nexus_tools.localnet.rpc import sui_definitions
from nexus_tools.localnet.rpc.messages import load_messages

OBJECT = "sui.rpc.v2.Object"


def test_definitions_are_kept_in_the_cache_and_read_from_it(tmp_path):
    load_messages(tmp_path / "new")
    (kept,) = (tmp_path / "new").iterdir()
    assert kept.suffix == ".binpb"
    again = load_messages(tmp_path / "new")
    assert again.message(OBJECT)(object_id="0x1").object_id == "0x1"


def test_a_damaged_cache_is_replaced(tmp_path):
    load_messages(tmp_path)
    (kept,) = tmp_path.iterdir()
    whole = kept.read_bytes()
    kept.write_bytes(b"\xff" * 100)
    load_messages(tmp_path)
    assert kept.read_bytes() == whole


def test_definitions_are_read_anew_when_they_have_changed(tmp_path, monkeypatch):
    changed = tmp_path / "changed"
    for folder in ("sui/rpc/v2", "google/rpc"):
        (changed / folder).mkdir(parents=True)
        shutil.copy(sui_definitions.generated_code(folder), changed / folder)
    load_messages(tmp_path / "cache")
    monkeypatch.setattr(
        sui_definitions, "generated_code", lambda folder: changed / folder / "__init__.py"
    )
    os.utime(changed / "sui/rpc/v2/__init__.py", ns=(1, 1))
    load_messages(tmp_path / "cache")
    assert len(list((tmp_path / "cache").iterdir())) == 2


def test_without_a_cache_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    load_messages()
    assert list(tmp_path.iterdir()) == []


def test_two_loads_do_not_disturb_each_other():
    first, second = load_messages(), load_messages()
    assert first.message(OBJECT) is not second.message(OBJECT)
