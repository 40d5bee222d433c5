def test_served_tools_are_registered_with_what_was_found(author, nora, serve_bridge):
    url, _ = serve_bridge(nora, "--domain", "org.example.one")
    done = author.json(
        "bridge", "register", nora, "--domain", "org.example.one", "--url", url, "--yes"
    )
    assert [tool["fqn"] for tool in done["tools"]] == ["org.example.one.word_count@1"]
    shown = author.json("tool", "show", "org.example.one.word_count@1")
    assert (shown["url"], shown["state"]) == (f"{url}/org.example.one.word_count@1", "active")


def test_tools_that_are_not_served_so_are_not_registered(author, nora, serve_bridge):
    url, _ = serve_bridge(nora, "--domain", "org.example.two")
    arguments = ("bridge", "register", nora, "--domain", "org.example.other", "--url", url, "--yes")
    assert author.fails(*arguments) == (7, "served_otherwise")


def test_tools_that_nobody_serves_are_registered_only_unchecked(author, nora, free_url):
    arguments = ("bridge", "register", nora, "--domain", "org.example.three", "--url", free_url)
    assert author.fails(*arguments, "--yes") == (6, "tool_unreachable")
    done = author.json(*arguments, "--unchecked", "--yes")
    assert done["tools"][0]["registered"]


def test_a_dry_run_registers_nothing(author, nora, free_url):
    arguments = ("--domain", "org.example.four", "--url", free_url, "--unchecked")
    done = author.json("bridge", "register", nora, *arguments, "--dry-run")
    assert done["dry_run"]
    assert author.fails("tool", "show", "org.example.four.word_count@1")[0] == 3
