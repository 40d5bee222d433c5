"""The signatures of an exported program equal those of the AWS client."""

import importlib.util
import sys
from datetime import UTC, datetime
from urllib.parse import quote

import botocore.auth
import pytest
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from nexus_tools.export import write_unstract_tool
from nexus_tools.tool import ToolDefinition

NOW = datetime(2026, 1, 31, 12, 30, 45, tzinfo=UTC)
KEY, SECRET = "AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
ENDPOINT = "http://127.0.0.1:9000"
BRANCH = {"type": "object", "properties": {"ok": {"type": "object"}}, "required": ["ok"]}
DEFINITION = {
    "fqn": "xyz.example.math.add@1",
    "url": "https://tools.example.com",
    "input_schema": {"type": "object"},
    "output_schema": {"type": "object", "oneOf": [BRANCH]},
}


@pytest.fixture
def storage(tmp_path, monkeypatch):
    """Return the object storage of an exported program."""
    write_unstract_tool(ToolDefinition.parse(DEFINITION), tmp_path / "exported")
    source = tmp_path / "exported" / "src"
    monkeypatch.syspath_prepend(source)
    spec = importlib.util.spec_from_file_location("exported_storage", source / "object_storage.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module.ObjectStorage(ENDPOINT, KEY, SECRET, "eu-west-1")
    sys.modules.pop("failure", None)


def aws_signature(monkeypatch, method, path, content):
    """Return the header `Authorization` from botocore."""
    monkeypatch.setattr(botocore.auth, "get_current_datetime", lambda: NOW)
    request = AWSRequest(method, ENDPOINT + path, data=content)
    request.context["payload_signing_enabled"] = True
    signer = botocore.auth.S3SigV4Auth(Credentials(KEY, SECRET), "s3", "eu-west-1")
    signer.add_auth(request)
    return request.headers["Authorization"]


@pytest.mark.parametrize(
    ("method", "name", "content"),
    [("GET", "bucket/run/INFILE", b""), ("PUT", "bucket/run/a b+c&d=é~.json", b'{"ok": {}}')],
)
def test_request_is_signed_like_by_the_aws_client(storage, monkeypatch, method, name, content):
    path = quote(f"/{name}", safe="/-_.~")
    signed = storage._signed(method, path, content, NOW)["authorization"]
    assert signed == aws_signature(monkeypatch, method, path, content)
