"""Honest tools in Python, each of which is the body of a tool in every system.

`places` has the paths of the test. Each function is copied as text into a tool, so it imports
modules itself.
"""

# Tool authors open files in any style.
# ruff: noqa: PTH103, PTH105, PTH118, PTH120, PTH123, PTH208


def create_file(places):
    """Create a file and its parent folders."""
    import os

    path = os.path.join(places["workspace"], "notes", "todo.txt")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write("buy milk\n")
    return "created notes/todo.txt"


def file_reader(places):
    """Read the file that another call has created."""
    with open(places["workspace"] + "/notes/todo.txt") as file:
        return file.read()


def replace_in_files(places):
    """List a folder, and rewrite one of its files through a temporary file."""
    import os
    import shutil
    import tempfile

    folder = os.path.join(places["workspace"], "edited")
    shutil.copytree(places["readable"], folder, dirs_exist_ok=True)
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name)) as file:
            text = file.read()
        with tempfile.NamedTemporaryFile("w", dir=folder, delete=False) as new:
            new.write(text.replace("cat", "dog"))
        os.replace(new.name, os.path.join(folder, name))
    with open(os.path.join(folder, "pets.txt")) as file:
        return [sorted(os.listdir(folder)), file.read()]


def commit_and_clone(places):
    """Commit and clone a repository with a shell script."""
    import subprocess

    script = """
    set -e
    cd "$1"; rm -rf one two; git init -q one; cd one; echo hello > a.txt; chmod 640 a.txt
    git add a.txt; git -c user.name=a -c user.email=a@example.org commit -qm first
    cd ..; git clone -q one two; cat two/a.txt | tr a-z A-Z | sort | head -n 1
    """
    command = ["sh", "-c", script, "sh", places["workspace"]]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    return ended.stdout.strip() or ended.stderr


def fetch(places):
    """Fetch a page through an allowed port."""
    import urllib.request

    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(places["page"], timeout=5) as response:
        return response.read().decode()


def compute(places):
    """Use compiled libraries, temporary files, threads, and other processes."""
    import concurrent.futures
    import multiprocessing
    import os
    import sqlite3
    import ssl
    import subprocess
    import sys
    import tempfile
    import zlib

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "numbers.db")
        with sqlite3.connect(path) as database:
            database.execute("create table t (n integer)")
            database.executemany("insert into t values (?)", [(n,) for n in range(10)])
        [(total,)] = database.execute("select sum(n) from t").fetchall()
    with concurrent.futures.ThreadPoolExecutor() as pool:
        squares = list(pool.map(lambda n: n * n, range(4)))
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("fork").Process(target=theirs.send, args=("sent",))
    process.start()
    received = ours.recv()
    process.join()
    ssl.create_default_context()
    command = [sys.executable, "-c", "print(6 * 7)"]
    printed = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    return [total, squares, received, printed.strip(), zlib.crc32(b"abc")]


EXPECTED = {
    create_file: "created notes/todo.txt",
    file_reader: "buy milk\n",
    replace_in_files: [["pets.txt"], "a dog\n"],
    commit_and_clone: "HELLO",
    fetch: "a page\n",
    # The sum of 0 to 9, and the CRC-32 of `abc`.
    compute: [45, [0, 1, 4, 9], "sent", "42", 891568578],
}
"""The result of each tool, in this order, because some tools build on earlier ones."""
