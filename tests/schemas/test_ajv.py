"""The schemas, judged by Ajv: a validator in JavaScript, which no part of this program uses."""

import json
import os
import shutil
import subprocess

import pytest

from nexus_tools.cli.schema import file_schema
from tests.schemas import test_bridge_schemas as bridges
from tests.schemas import test_settings_schema as settings
from tests.schemas import test_tool_schema as tools
from tests.schemas import test_workflow_schema as workflows
from tests.schemas.judges import Judge, mutations

BASES = {
    "tool": (tools.FULL, tools.BADGE),
    "workflow": (workflows.PLAIN, workflows.STRICT, workflows.NESTED),
    "settings": (settings.BASE,),
    "hyperpocket": (bridges.HYPERPOCKET,),
    "mcp": (bridges.MCP,),
}
PROGRAM = """
import { Ajv2020 } from "ajv/dist/2020.js";
import { readFileSync } from "node:fs";

const [schema, documents] = JSON.parse(readFileSync(0, "utf-8"));
const validate = new Ajv2020({ strictTypes: false, strictRequired: false }).compile(schema);
console.log(JSON.stringify(documents.map((document) => validate(document))));
"""


@pytest.fixture(scope="module")
def ajv(tmp_path_factory):
    """Return a function that returns Ajv's verdicts on documents by a schema."""
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    folder = tmp_path_factory.mktemp("ajv")
    environment = os.environ | {"HOME": str(folder)}
    install = ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "ajv@8.20.0"]
    subprocess.run(install, cwd=folder, env=environment, check=True, capture_output=True)
    program = folder / "judge.mjs"
    program.write_text(PROGRAM)

    def ajv(schema, documents):
        done = subprocess.run(
            ["node", program],
            input=json.dumps([schema, documents]),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return ajv


@pytest.mark.long
@pytest.mark.parametrize("name", BASES)
def test_ajv_agrees_with_the_other_validators(ajv, name):
    documents = [document for base in BASES[name] for document in [base, *mutations(base)]]
    judge = Judge(name, lambda _: None)
    expected = [judge.judge(document, twice=False).by_schema for document in documents]
    assert min(expected.count(True), expected.count(False)) > 30
    assert ajv(file_schema(name), documents) == expected
