import pytest
from google.protobuf import descriptor_pool

from nexus_tools.sui.rpc import load_messages


def test_the_classes_are_made_once_so_that_all_in_a_process_understand_each_other():
    assert load_messages() is load_messages()


def test_a_foreign_program_of_the_same_process_may_have_classes_of_the_same_names():
    load_messages()
    with pytest.raises(KeyError):
        descriptor_pool.Default().FindMessageTypeByName("sui.rpc.v2.Object")
