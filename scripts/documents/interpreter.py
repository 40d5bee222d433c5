"""A Python interpreter for a page. All blocks share a scope, and `await` is allowed at top level.

The interpreter reads programs from stdin, one JSON string per line. After the output of each
program, it prints a mark. This file is passed to Python as text and needs only the standard
library.
"""

import ast
import asyncio
import json
import linecache
import sys
import traceback

scope = globals()
stdin, mark = sys.stdin, sys.argv[1]
with asyncio.Runner() as runner:
    for number, line in enumerate(stdin):
        name, source = f"<block {number + 1}>", json.loads(line)
        linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
        status = 0
        try:
            code = compile(source, name, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
            running = eval(code, scope)
            if running is not None:
                runner.run(running)
        except BaseException:  # noqa: BLE001 - whatever a program raises is its end
            traceback.print_exc(file=sys.stdout)
            status = 1
        print(f"{mark}{status}", flush=True)
