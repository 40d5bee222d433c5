from nexus_tools.sui.localnet.vm import Reference, Variant, borrow, copy_value


def test_copy_is_equal_and_shares_no_container():
    value = [1, [bytearray(b"a"), []], Variant(1, [[2]]), True, bytes(32)]
    copied = copy_value(value)
    assert copied == value
    copied[1][0].append(9)
    copied[2].fields[0][0] = 3
    assert value == [1, [bytearray(b"a"), []], Variant(1, [[2]]), True, bytes(32)]


def test_reference_reads_and_writes_its_target():
    container = [1, 2]
    reference = Reference(container, 1)
    reference.write(reference.read() + 5)
    assert container == [1, 7]


def test_single_value_can_be_borrowed():
    reference = borrow(5)
    reference.write(6)
    assert reference.read() == 6


def test_variants_are_compared_by_tag_and_fields():
    assert Variant(0, [1]) == Variant(0, [1])
    assert Variant(0, [1]) != Variant(1, [1])
    assert Variant(0, [1]) != [1]
