from nexus_tools.sui.localnet.verifier import TICKS_MAX, TickMeter, verify_sui_module


def test_framework_and_own_package_pass_all_rules(genuine):
    assert len(genuine) > 100
    for module in genuine:
        verify_sui_module(module)


def test_published_modules_are_far_below_the_limit(genuine):
    for module in genuine:
        meter = TickMeter(module.name)
        verify_sui_module(module, meter)
        assert meter.ticks < TICKS_MAX / 10
