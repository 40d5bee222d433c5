"""The file system of Unstract's SDK with the store."""

from functools import partial

import anyio
import pytest
import s3fs


async def test_written_object_is_a_file_below_the_root(fs, bucket):
    await fs._pipe_file("the-bucket/run/INFILE", b"result")
    assert (bucket / "run" / "INFILE").read_bytes() == b"result"


async def test_file_below_the_root_is_read(fs, bucket):
    (bucket / "SOURCE").write_bytes(b"original")
    assert await fs._cat_file("the-bucket/SOURCE") == b"original"


async def test_part_of_a_file_is_read(fs, bucket):
    (bucket / "SOURCE").write_bytes(b"0123456789")
    assert await fs._cat_file("the-bucket/SOURCE", start=2, end=5) == b"234"


async def test_empty_file_is_written(fs, bucket):
    await fs._pipe_file("the-bucket/empty", b"")
    assert (bucket / "empty").read_bytes() == b""


async def test_directory_is_listed(fs, bucket):
    for name in ("b.txt", "a.txt", "deep/c.txt"):
        (bucket / "COPY_TO_FOLDER" / name).parent.mkdir(parents=True, exist_ok=True)
        (bucket / "COPY_TO_FOLDER" / name).write_bytes(b"x")
    names = await fs._ls("the-bucket/COPY_TO_FOLDER", detail=False)
    above = "the-bucket/COPY_TO_FOLDER/"
    assert sorted(names) == [above + "a.txt", above + "b.txt", above + "deep"]


async def test_existence_is_reported(fs, bucket):
    (bucket / "there").write_bytes(b"x")
    assert await fs._exists("the-bucket/there")
    assert not await fs._exists("the-bucket/absent")
    with pytest.raises(FileNotFoundError):
        await fs._cat_file("the-bucket/absent")


async def test_large_file_is_written_in_parts(fs, bucket):
    content = bytes(range(256)) * 4 * 1_024 * 11
    await fs._pipe_file("the-bucket/large", content, chunksize=5 * 2**20)
    assert (bucket / "large").read_bytes() == content


async def test_large_exclusive_file_is_not_overwritten(fs, bucket):
    (bucket / "there").write_bytes(b"first")
    how = {"mode": "create", "chunksize": 5 * 2**20}
    with pytest.raises(OSError, match="an object with this name already exists"):
        await fs._pipe_file("the-bucket/there", bytes(11 * 2**20), **how)
    assert (bucket / "there").read_bytes() == b"first"


async def test_files_are_copied_and_deleted(fs, bucket):
    await fs._pipe_file("the-bucket/from", b"content")
    await fs._cp_file("the-bucket/from", "the-bucket/below/to")
    await fs._rm(["the-bucket/from"])
    assert (bucket / "below" / "to").read_bytes() == b"content"
    assert not (bucket / "from").exists()


async def test_folder_is_deleted_with_its_content(fs, bucket):
    for name in ("a", "deep/b"):
        await fs._pipe_file(f"the-bucket/run/{name}", b"content")
    await fs._pipe_file("the-bucket/kept", b"content")
    await fs._rm("the-bucket/run", recursive=True)
    assert [path.name for path in bucket.iterdir()] == ["kept"]


async def test_exclusive_file_is_not_overwritten(fs, bucket):
    (bucket / "there").write_bytes(b"first")
    with pytest.raises(OSError, match="an object with this name already exists"):
        await fs._pipe_file("the-bucket/there", b"second", mode="create")
    assert (bucket / "there").read_bytes() == b"first"


async def test_bucket_is_created(fs, root):
    await fs._mkdir("another-bucket")
    assert (root / "another-bucket").is_dir()
    assert sorted(await fs._ls("", detail=False)) == ["another-bucket", "the-bucket"]


@pytest.fixture
async def blocking(store):
    """Return a function that runs a call of the SDK's blocking file system in a thread."""
    make = partial(
        s3fs.S3FileSystem,
        skip_instance_cache=True,
        endpoint_url=store.endpoint_url,
        key=store.access_key,
        secret=store.access_key,
    )

    def run(function):
        with_file_system = partial(function, make())
        return anyio.to_thread.run_sync(with_file_system)

    return run


async def test_files_are_opened_written_seeked_and_appended(blocking, bucket):
    def work(fs):
        with fs.open("the-bucket/run/INFILE", "w", encoding="utf-8") as file:
            file.write("0123456789")
        with fs.open("the-bucket/run/INFILE", "ab") as file:
            file.write(b"abc")
        with fs.open("the-bucket/run/INFILE", "rb") as file:
            file.seek(8)
            return file.read(4)

    assert await blocking(work) == b"89ab"
    assert (bucket / "run" / "INFILE").read_bytes() == b"0123456789abc"


async def test_replaced_open_file_is_reported_as_expired(blocking, bucket):
    def work(fs):
        with fs.open("the-bucket/a", "rb", block_size=5, cache_type="readahead") as file:
            first = file.read(5)
            (bucket / "a").write_bytes(b"other content")
            with pytest.raises(s3fs.utils.FileExpired):
                file.read()
            return first

    (bucket / "a").write_bytes(b"0123456789" * 4)
    assert await blocking(work) == b"01234"


async def test_folders_are_copied_to_and_from_the_host(blocking, bucket, tmp_path):
    (tmp_path / "from" / "deep").mkdir(parents=True)
    (tmp_path / "from" / "deep" / "a.txt").write_bytes(b"content")
    (tmp_path / "from" / "b.txt").write_bytes(b"")

    def work(fs):
        fs.put(str(tmp_path / "from"), "the-bucket/run", recursive=True)
        fs.get("the-bucket/run", str(tmp_path / "to"), recursive=True)
        return sorted(fs.glob("the-bucket/run/**/*.txt"))

    assert await blocking(work) == ["the-bucket/run/b.txt", "the-bucket/run/deep/a.txt"]
    assert (tmp_path / "to" / "deep" / "a.txt").read_bytes() == b"content"


async def test_folder_exists_until_its_last_file_is_deleted(blocking, bucket):
    (bucket / "run" / "COPY_TO_FOLDER").mkdir(parents=True)

    def work(fs):
        fs.mkdir("the-bucket/run/COPY_TO_FOLDER", create_parents=True)
        before = fs.exists("the-bucket/run/COPY_TO_FOLDER")
        fs.pipe_file("the-bucket/run/COPY_TO_FOLDER/a", b"content")
        fs.rm("the-bucket/run/COPY_TO_FOLDER", recursive=True)
        return before, fs.exists("the-bucket/run/COPY_TO_FOLDER")

    assert await blocking(work) == (True, False)


async def test_file_info_is_reported(blocking, bucket):
    (bucket / "a").write_bytes(b"content")
    info = await blocking(lambda fs: fs.info("the-bucket/a"))
    assert (info["size"], info["type"]) == (7, "file")
    assert info["LastModified"].timestamp() == int((bucket / "a").stat().st_mtime)
    assert await blocking(lambda fs: fs.checksum("the-bucket/a") == fs.checksum("the-bucket/a"))
