import pytest
from google.protobuf import descriptor_pool

from nexus_tools.sui.rpc import load_messages


def test_message_classes_are_created_once_per_process():
    assert load_messages() is load_messages()


def test_other_program_may_define_classes_of_the_same_names():
    load_messages()
    with pytest.raises(KeyError):
        descriptor_pool.Default().FindMessageTypeByName("sui.rpc.v2.Object")
