from nexus_tools.sui.localnet.execution.commands.checks.function_access import Cliques


def test_values_of_one_command_share_a_clique():
    cliques = Cliques()
    one, other, apart = cliques.new(), cliques.new(), cliques.new()
    cliques.heat(cliques.merge([one, other]))
    assert [cliques.is_hot(clique) for clique in (one, other, apart)] == [True, True, False]


def test_clique_is_cold_after_its_last_hot_potato_is_consumed():
    cliques = Cliques()
    one, other = cliques.new(), cliques.new()
    cliques.heat(one)
    cliques.heat(other)
    merged = cliques.merge([one, other])
    cliques.cool(one)
    assert cliques.is_hot(merged)
    cliques.cool(other)
    assert not cliques.is_hot(merged)


def test_consumed_shared_object_keeps_a_clique_hot():
    cliques = Cliques()
    clique = cliques.new()
    cliques.heat_for_ever(clique)
    cliques.cool(clique)
    assert cliques.is_hot(cliques.merge([clique, cliques.new()]))


def test_command_without_arguments_has_its_own_clique():
    cliques = Cliques()
    assert cliques.merge([]) != cliques.merge([])
