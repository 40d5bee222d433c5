"""Documents of workflows in few words, for tests.

> a.x                    an entry port of the vertex a
a.ok.sum -> b.x          an edge, and with `for_each` in place of the arrow one of that kind
b.y = 7                  a default value
b.ok.sum >               an output
group g: a b             an entry group
"""

import json

from nexus_tools.workflow import lint, read_document


def flow(*lines, **fields):
    """The JSON value of a document: a vertex for each that is named, in the order of the lines."""
    vertices, edges, defaults, groups, outputs = {}, [], [], [], []

    def vertex(name):
        return vertices.setdefault(name, {"name": name, "kind": tool(), "entry_ports": []})

    def source(text):
        name, variant, port = text.split(".")
        vertex(name)
        return {"vertex": name, "output_variant": variant, "output_port": port}

    def target(text):
        name, port = text.split(".")
        vertex(name)
        return {"vertex": name, "input_port": port}

    for line in lines:
        words = line.split()
        if words[0] == ">":
            place = target(words[1])
            vertex(place["vertex"])["entry_ports"].append({"name": place["input_port"]})
        elif words[0] == "group":
            groups.append({"name": words[1].rstrip(":"), "vertices": words[2:]})
        elif words[-1] == ">":
            outputs.append(source(words[0]))
        elif words[1] == "=":
            data = json.loads(line.partition("=")[2])
            value = {"storage": "inline", "data": data}
            defaults.append({**target(words[0]), "value": value})
        else:
            kind = {} if words[1] == "->" else {"kind": words[1]}
            edges.append({**kind, "from": source(words[0]), "to": target(words[2])})
    optional = {"default_values": defaults, "entry_groups": groups, "outputs": outputs}
    for each in vertices.values():
        if not each["entry_ports"]:
            del each["entry_ports"]
    document = {"vertices": list(vertices.values()), "edges": edges}
    return document | {name: value for name, value in optional.items() if value} | fields


def tool():
    """The tool of a vertex that does nothing in particular."""
    return {"variant": "off_chain", "tool_fqn": "xyz.example.any@1"}


def lint_json(document, **options):
    """Return the findings of the linter for the JSON value of a document."""
    return lint(read_document(json.dumps(document))[0], **options)


def errors(document):
    """The errors in it: rule, message, pointer."""
    return [
        (each.rule, each.message, each.pointer) for each in lint_json(document) if each.is_error
    ]


def warnings(document):
    """The warnings in it: rule, message, pointer."""
    return [
        (each.rule, each.message, each.pointer) for each in lint_json(document) if not each.is_error
    ]
