"""The file system that Unstract's SDK uses, against the store."""

import pytest


async def test_what_is_written_is_a_file_below_the_root(fs, bucket):
    await fs._pipe_file("the-bucket/run/INFILE", b"result")
    assert (bucket / "run" / "INFILE").read_bytes() == b"result"


async def test_a_file_below_the_root_is_read(fs, bucket):
    (bucket / "SOURCE").write_bytes(b"original")
    assert await fs._cat_file("the-bucket/SOURCE") == b"original"


async def test_a_part_of_a_file_is_read(fs, bucket):
    (bucket / "SOURCE").write_bytes(b"0123456789")
    assert await fs._cat_file("the-bucket/SOURCE", start=2, end=5) == b"234"


async def test_an_empty_file_is_written(fs, bucket):
    await fs._pipe_file("the-bucket/empty", b"")
    assert (bucket / "empty").read_bytes() == b""


async def test_a_directory_is_listed(fs, bucket):
    for name in ("b.txt", "a.txt", "deep/c.txt"):
        (bucket / "COPY_TO_FOLDER" / name).parent.mkdir(parents=True, exist_ok=True)
        (bucket / "COPY_TO_FOLDER" / name).write_bytes(b"x")
    names = await fs._ls("the-bucket/COPY_TO_FOLDER", detail=False)
    above = "the-bucket/COPY_TO_FOLDER/"
    assert sorted(names) == [above + "a.txt", above + "b.txt", above + "deep"]


async def test_what_exists_is_told_from_what_does_not(fs, bucket):
    (bucket / "there").write_bytes(b"x")
    assert await fs._exists("the-bucket/there")
    assert not await fs._exists("the-bucket/absent")
    with pytest.raises(FileNotFoundError):
        await fs._cat_file("the-bucket/absent")


async def test_a_large_file_is_written_in_parts(fs, bucket):
    content = bytes(range(256)) * 4 * 1_024 * 11
    await fs._pipe_file("the-bucket/large", content, chunksize=5 * 2**20)
    assert (bucket / "large").read_bytes() == content
    assert (await fs._info("the-bucket/large"))["ETag"].endswith('-3"')


async def test_files_are_copied_and_deleted(fs, bucket):
    await fs._pipe_file("the-bucket/from", b"content")
    await fs._cp_file("the-bucket/from", "the-bucket/below/to")
    await fs._rm(["the-bucket/from"])
    assert (bucket / "below" / "to").read_bytes() == b"content"
    assert not (bucket / "from").exists()


async def test_a_folder_is_deleted_with_all_that_it_has(fs, bucket):
    for name in ("a", "deep/b"):
        await fs._pipe_file(f"the-bucket/run/{name}", b"content")
    await fs._pipe_file("the-bucket/kept", b"content")
    await fs._rm("the-bucket/run", recursive=True)
    assert [path.name for path in bucket.iterdir()] == ["kept"]


async def test_a_file_that_must_be_new_is_not_overwritten(fs, bucket):
    (bucket / "there").write_bytes(b"first")
    with pytest.raises(OSError, match="there is an object of this name already"):
        await fs._pipe_file("the-bucket/there", b"second", mode="create")
    assert (bucket / "there").read_bytes() == b"first"


async def test_a_bucket_is_made(fs, root):
    await fs._mkdir("another-bucket")
    assert (root / "another-bucket").is_dir()
    assert sorted(await fs._ls("", detail=False)) == ["another-bucket", "the-bucket"]
