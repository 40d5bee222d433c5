"""What S3 does with buckets."""

from datetime import UTC, datetime

from starlette.responses import Response

from nexus_tools.bridges.unstract.object_store.ask import Ask
from nexus_tools.bridges.unstract.object_store.documents import document, element, parse, text
from nexus_tools.bridges.unstract.object_store.fault import FaultError
from nexus_tools.bridges.unstract.object_store.names import ObjectName, bucket_name

REGION = "us-east-1"
XML = "application/xml"

# The most that DeleteObjects takes, and room for as many keys.
_MAX_KEYS = 1_000
_MAX_DOCUMENT_BYTES = 4 * 2**20


def xml_time(moment: datetime) -> str:
    """A time as S3's documents have it."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")


def xml_response(name: str, *content: str) -> Response:
    """A document as the response."""
    return Response(document(name, *content), media_type=XML)


async def list_buckets(ask: Ask) -> Response:
    """ListBuckets."""
    buckets = [
        element(
            "Bucket",
            text("Name", name),
            text("CreationDate", xml_time(datetime.fromtimestamp(changed, UTC))),
        )
        for name, changed in ask.objects.tree.buckets()
    ]
    owner = element("Owner", text("ID", "owner"))
    return xml_response("ListAllMyBucketsResult", owner, element("Buckets", *buckets))


async def create_bucket(ask: Ask) -> Response:
    """CreateBucket; where it should lie does not matter here."""
    place = (bucket_name(ask.bucket),)
    content = await ask.body.whole(_MAX_DOCUMENT_BYTES)
    if content:
        parse(content, "CreateBucketConfiguration")
    if ask.objects.tree.has_directory(place):
        raise FaultError("BucketAlreadyOwnedByYou", f"there is a bucket {ask.bucket} already")
    ask.objects.tree.make_directory(place)
    return Response(headers={"location": f"/{ask.bucket}"})


async def head_bucket(ask: Ask) -> Response:
    """HeadBucket."""
    ask.objects.check_bucket(ask.bucket)
    return Response(headers={"x-amz-bucket-region": REGION})


async def get_bucket_location(ask: Ask) -> Response:
    """GetBucketLocation: empty stands for us-east-1."""
    ask.objects.check_bucket(ask.bucket)
    return xml_response("LocationConstraint")


async def get_bucket_versioning(ask: Ask) -> Response:
    """GetBucketVersioning: never had any."""
    ask.objects.check_bucket(ask.bucket)
    return xml_response("VersioningConfiguration")


async def delete_objects(ask: Ask) -> Response:
    """DeleteObjects: each key by itself; those that are not there count as deleted."""
    ask.objects.check_bucket(ask.bucket)
    request = parse(await ask.body.whole(_MAX_DOCUMENT_BYTES), "Delete")
    keys = [entry.value("Key") for entry in request.all("Object")]
    if not 1 <= len(keys) <= _MAX_KEYS:
        raise FaultError("MalformedXML", f"a batch deletes 1 to {_MAX_KEYS} objects")
    is_quiet = any(node.text.strip() == "true" for node in request.all("Quiet"))
    results = [_delete(ask, key, is_quiet=is_quiet) for key in keys]
    return xml_response("DeleteResult", *results)


def _delete(ask: Ask, key: str, *, is_quiet: bool) -> str:
    try:
        ask.objects.remove(ObjectName.parse(ask.bucket, key))
    except FaultError as fault:
        reason = (text("Code", fault.code), text("Message", fault.message))
        return element("Error", text("Key", key), *reason)
    return "" if is_quiet else element("Deleted", text("Key", key))
