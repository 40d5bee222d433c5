"""Listings, according to the S3 API reference."""

import pytest
from botocore.exceptions import ClientError

from nexus_tools.bridges.unstract.object_store.listing import build_page

KEYS = ["a.txt", "photos/2005/x", "photos/2006/a", "photos/2006/b", "photos/y", "z.txt"]


def test_keys_are_grouped_at_the_delimiter():
    page = build_page(KEYS, "", "/", "", 1_000)
    assert (page.keys, page.prefixes) == (["a.txt", "z.txt"], ["photos/"])


def test_keys_below_a_prefix_are_grouped_after_it():
    page = build_page(KEYS, "photos/", "/", "", 1_000)
    assert (page.keys, page.prefixes) == (["photos/y"], ["photos/2005/", "photos/2006/"])


def test_pages_continue_after_a_common_prefix():
    first = build_page(KEYS, "", "/", "", 2)
    assert (first.keys, first.prefixes, first.is_truncated) == (["a.txt"], ["photos/"], True)
    second = build_page(KEYS, "", "/", first.last, 2)
    assert (second.keys, second.prefixes, second.is_truncated) == (["z.txt"], [], False)


def test_page_without_keys_is_not_truncated():
    assert build_page(KEYS, "", "", "", 0).is_truncated is False


@pytest.fixture
async def filled(client, bucket):
    for key in KEYS:
        (bucket / key).parent.mkdir(parents=True, exist_ok=True)
        (bucket / key).write_bytes(b"12345")
    return client


async def test_version_2_reads_all_pages(filled):
    first = await filled("list_objects_v2", MaxKeys=4)
    assert (first["KeyCount"], first["IsTruncated"]) == (4, True)
    token = first["NextContinuationToken"]
    second = await filled("list_objects_v2", MaxKeys=4, ContinuationToken=token)
    assert [entry["Key"] for entry in first["Contents"] + second["Contents"]] == KEYS
    assert second["IsTruncated"] is False


async def test_version_1_is_not_supported(filled):
    with pytest.raises(ClientError, match="NotImplemented"):
        await filled("list_objects")


async def test_listing_has_sizes_and_etags(filled):
    [entry] = (await filled("list_objects_v2", Prefix="a"))["Contents"]
    head_response = await filled("head_object", Key="a.txt")
    assert (entry["Size"], entry["ETag"]) == (5, head_response["ETag"])


async def test_page_continues_after_a_key_with_odd_characters(client):
    for key in ("a&b <c> ü+%20", "b"):
        await client("put_object", Key=key, Body=b"")
    first = await client("list_objects_v2", MaxKeys=1)
    token = first["NextContinuationToken"]
    second = await client("list_objects_v2", MaxKeys=1, ContinuationToken=token)
    assert [entry["Key"] for entry in second["Contents"]] == ["b"]


async def test_listing_starts_after_a_key(filled):
    listing = await filled("list_objects_v2", StartAfter="photos/2006/b")
    assert [entry["Key"] for entry in listing["Contents"]] == ["photos/y", "z.txt"]


async def test_listing_escapes_keys_for_xml(filled, bucket):
    (bucket / "a&b <c>").write_bytes(b"")
    listing = await filled("list_objects_v2", Prefix="a&")
    assert [entry["Key"] for entry in listing["Contents"]] == ["a&b <c>"]


async def test_empty_host_directory_is_listed(filled, bucket):
    (bucket / "COPY_TO_FOLDER").mkdir()
    listing = await filled("list_objects_v2", Prefix="COPY")
    assert [entry["Key"] for entry in listing["Contents"]] == ["COPY_TO_FOLDER/"]


@pytest.mark.parametrize("prefix", ["absent/", "../", "/", "a.txt/"])
async def test_unmatched_prefix_lists_nothing(filled, prefix):
    assert "Contents" not in await filled("list_objects_v2", Prefix=prefix)


async def test_files_with_invalid_names_are_not_listed(filled, bucket):
    (bucket / "a\nb").write_bytes(b"")
    (bucket / "a\nc").mkdir()
    (bucket / "a\nc" / "d").write_bytes(b"")
    (bucket / "/".join("d" * 70)).mkdir(parents=True)
    listing = await filled("list_objects_v2")
    assert [entry["Key"] for entry in listing["Contents"]] == KEYS


async def test_negative_page_size_is_refused(filled):
    with pytest.raises(ClientError, match="InvalidArgument"):
        await filled("list_objects_v2", MaxKeys=-1)
