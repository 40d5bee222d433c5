"""The diagrams of tools, invocations, their money and the Leader."""

from collections.abc import Callable, Mapping

from documents import Block, Page
from documents.page import ROOT
from drawing.canvas import LINE_HEIGHT, Canvas
from nexus_tools.cli.workflow.workflow_file import read_workflow
from nexus_tools.workflow import draw_svg


def loop() -> str:
    """Draw the parties and their actions."""
    canvas = Canvas(
        760,
        330,
        "An author registers a tool, a requester requests invocations, a Leader closes them",
    )
    canvas.box(20, 40, 130, 60, "author", "creates a tool")
    canvas.box(290, 30, 180, 150, "Sui", "tool registry", "invocations", "leaders", kind="chain")
    canvas.box(610, 40, 130, 60, "requester", "people, agents")
    canvas.box(290, 250, 180, 60, "Leader", "validates inputs, outputs")
    canvas.box(20, 250, 130, 60, "tool", "an HTTP service")
    canvas.arrow((150, 70), (290, 70))
    canvas.text(220, 50, "1 register:")
    canvas.text(220, 64, "collateral")
    canvas.arrow((610, 60), (470, 60))
    canvas.text(540, 36, "2 request:")
    canvas.text(540, 51, "inputs, payment")
    canvas.arrow((350, 180), (350, 250))
    canvas.text(342, 220, "3 event", anchor="end")
    canvas.arrow((290, 270), (150, 270))
    canvas.text(220, 262, "4 POST /invoke")
    canvas.arrow((150, 292), (290, 292))
    canvas.text(220, 308, "5 variant, ports")
    canvas.arrow((410, 250), (410, 180))
    canvas.text(418, 220, "6 close: outcome", anchor="start")
    canvas.arrow((470, 150), (675, 150), (675, 100))
    canvas.text(572, 142, "7 outcome, refund")
    return canvas.svg()


def life() -> str:
    """Draw the states of a tool."""
    canvas = Canvas(760, 250, "The states of a tool: active, suspended, unregistered, claimed")
    canvas.box(190, 40, 150, 60, "active", "takes invocations", kind="good")
    canvas.box(190, 170, 150, 60, "suspended", "collateral is missing", kind="bad")
    canvas.box(420, 40, 150, 60, "unregistered", "claim delay runs")
    canvas.box(620, 170, 120, 60, "claimed", "the name remains")
    canvas.arrow((30, 70), (190, 70))
    canvas.text(105, 60, "register: collateral")
    canvas.arrow((230, 100), (230, 170))
    canvas.text(222, 140, "slash", anchor="end")
    canvas.arrow((300, 170), (300, 100))
    canvas.text(308, 140, "top-up", anchor="start")
    canvas.arrow((340, 58), (420, 58))
    canvas.text(380, 50, "unregister")
    canvas.arrow((420, 84), (340, 84))
    canvas.text(380, 102, "cancel")
    canvas.arrow((340, 200), (495, 200), (495, 100))
    canvas.text(418, 218, "unregister")
    canvas.arrow((570, 70), (680, 70), (680, 170))
    canvas.text(672, 62, "claim, after the delay", anchor="middle")
    canvas.arrow((650, 170), (650, 140), (365, 140), (325, 100))
    canvas.text(575, 132, "re-register")
    return canvas.svg()


def windows() -> str:
    """Draw who may close an invocation, and when."""
    canvas = Canvas(760, 230, "The windows of an invocation: the first leader, the second, anyone")
    canvas.box(90, 60, 250, 60, "first leader", "settles or fails the invocation", kind="good")
    canvas.box(340, 60, 250, 60, "second leader", "if the first leader does not close")
    canvas.box(590, 60, 150, 60, "anyone", "expires the invocation", kind="bad")
    canvas.arrow((20, 150), (745, 150))
    for x, text in ((90, "request"), (340, "+ 1 window"), (590, "+ 2 windows")):
        canvas.line((x, 120), (x, 158))
        canvas.text(x, 176, text, "title")
    canvas.text(90, 40, "the requester prepays", anchor="start")
    canvas.text(340, 40, "the chain checks the clock", anchor="start")
    canvas.text(590, 40, "everything is refunded", anchor="start")
    canvas.text(
        380,
        210,
        "A window is the tool's timeout plus a grace period. A closed invocation never changes.",
    )
    return canvas.svg()


def money() -> str:
    """Draw the payments of an invocation."""
    canvas = Canvas(760, 300, "The payments of an invocation: price, fee, refund, gas")
    canvas.box(20, 110, 130, 60, "requester", "prepays")
    canvas.box(
        300, 90, 170, 100, "invocation", "price", "fee", "storage for the outcome", kind="chain"
    )
    canvas.box(610, 20, 130, 60, "payout", "tool's address")
    canvas.box(610, 110, 130, 60, "worker", "leader's worker")
    canvas.box(610, 220, 130, 60, "network", "gas")
    canvas.arrow((150, 130), (300, 130))
    canvas.text(225, 122, "request: full payment")
    canvas.arrow((470, 110), (530, 110), (530, 50), (610, 50))
    canvas.text(570, 42, "price")
    canvas.text(524, 84, "settled", anchor="end")
    canvas.arrow((470, 140), (610, 140))
    canvas.text(540, 132, "fee")
    canvas.text(540, 158, "settled or failed")
    canvas.arrow((340, 190), (340, 215), (120, 215), (120, 170))
    canvas.text(230, 207, "closing: refund of the rest")
    canvas.arrow((675, 170), (675, 220))
    canvas.text(667, 200, "closing", anchor="end")
    canvas.arrow((60, 170), (60, 250), (610, 250))
    canvas.text(330, 242, "request: gas; deletion: storage rebate")
    return canvas.svg()


def leader() -> str:
    """Draw the path of an invocation through the Leader."""
    canvas = Canvas(760, 290, "Inside the Leader: watcher, journal, dispatcher, invoker, closer")
    canvas.box(20, 110, 100, 70, "Sui", "gRPC", kind="chain")
    canvas.box(170, 40, 120, 60, "watcher", "reads events")
    canvas.box(170, 190, 120, 60, "closer", "closes in batches")
    canvas.box(340, 110, 120, 70, "journal", "SQLite:", "survives kill -9")
    canvas.box(510, 40, 110, 60, "dispatcher", "one invocation")
    canvas.box(510, 190, 110, 60, "invoker", "calls the tool")
    canvas.box(660, 190, 80, 60, "tool", "HTTPS")
    canvas.arrow((70, 110), (70, 70), (170, 70))
    canvas.text(120, 60, "events")
    canvas.arrow((290, 70), (400, 70), (400, 110))
    canvas.text(345, 60, "Assignment")
    canvas.arrow((460, 130), (485, 130), (485, 70), (510, 70))
    canvas.text(478, 60, "Entry", anchor="end")
    canvas.arrow((565, 100), (565, 190))
    canvas.text(573, 148, "ToolCall", anchor="start")
    canvas.arrow((620, 220), (660, 220))
    canvas.arrow((510, 220), (400, 220), (400, 180))
    canvas.text(455, 240, "Outcome")
    canvas.arrow((340, 150), (315, 150), (315, 220), (290, 220))
    canvas.text(307, 175, "Closing", anchor="end")
    canvas.arrow((170, 220), (70, 220), (70, 180))
    canvas.text(118, 240, "transaction")
    return canvas.svg()


def fleet() -> str:
    """Draw the processes of one leader that share a journal."""
    canvas = Canvas(760, 300, "A fleet: processes of one leader share a journal in PostgreSQL")
    canvas.box(20, 110, 110, 80, "Sui", "gRPC", kind="chain")
    canvas.box(230, 20, 240, 260, "")
    canvas.text(350, 44, "one leader", "title")
    canvas.box(250, 60, 200, 56, "process A: holder", "also reads events", kind="good")
    canvas.box(250, 132, 200, 56, "process B", "calls tools, closes")
    canvas.box(250, 204, 200, 56, "process C", "calls tools, closes")
    canvas.box(610, 50, 130, 60, "tools", "HTTPS")
    canvas.box(610, 180, 130, 80, "PostgreSQL", "journal: leases,", "assignments")
    canvas.arrow((130, 130), (190, 130), (190, 80), (250, 80))
    canvas.text(182, 104, "events", anchor="end")
    canvas.arrow((230, 170), (130, 170))
    canvas.text(180, 188, "closings")
    canvas.arrow((470, 80), (610, 80))
    canvas.text(540, 72, "POST /invoke")
    canvas.arrow((470, 208), (610, 208))
    canvas.text(540, 200, "renew the lease")
    canvas.arrow((610, 238), (470, 238))
    canvas.text(540, 256, "claimed invocations")
    return canvas.svg()


def schedule() -> str:
    """Draw the planned times of a schedule, and the executions that start."""
    canvas = Canvas(760, 240, "Planned times: a late start, and one execution after a pause")
    canvas.arrow((40, 120), (740, 120))
    for number in range(6):
        x = 90 + number * 115
        canvas.arrow((x, 62), (x, 112))
        canvas.text(x, 52, f"{9 + number}:00", "title")
    canvas.text(40, 26, "planned times, fixed by the schedule", anchor="start")
    canvas.box(90, 138, 60, 28, "run 1", kind="good")
    canvas.box(235, 138, 60, 28, "run 2", kind="good")
    canvas.text(265, 186, "starts late;")
    canvas.text(265, 202, "11:00 does not move")
    canvas.box(312, 138, 268, 28, "no leader works", kind="bad")
    canvas.box(590, 138, 60, 28, "run 3", kind="good")
    canvas.text(612, 186, "one run, for the")
    canvas.text(612, 202, "latest time only")
    canvas.box(665, 138, 60, 28, "run 4", kind="good")
    return canvas.svg()


def signatures() -> str:
    """Draw which party signs what, and who verifies it."""
    canvas = Canvas(760, 230, "The leader signs the request, the tool signs the answer")
    canvas.box(20, 80, 120, 70, "Sui", "keys of leaders", "and tools", kind="chain")
    canvas.box(300, 80, 140, 70, "Leader", "key of the leader")
    canvas.box(600, 80, 140, 70, "tool", "key of the tool")
    canvas.arrow((440, 98), (600, 98))
    canvas.text(520, 74, "1 request, signed")
    canvas.text(520, 90, "by the leader")
    canvas.arrow((600, 132), (440, 132))
    canvas.text(520, 150, "2 answer, signed")
    canvas.text(520, 166, "by the tool")
    canvas.arrow((300, 115), (140, 115))
    canvas.text(220, 91, "3 closing with the")
    canvas.text(220, 107, "tool's signature")
    canvas.arrow((80, 80), (80, 36), (670, 36), (670, 80))
    canvas.text(375, 28, "the server reads the leader's keys and the invocation")
    canvas.arrow((80, 150), (80, 200), (370, 200), (370, 150))
    canvas.text(225, 218, "the Leader reads the tool's keys")
    return canvas.svg()


def domain() -> str:
    """Draw how a domain confirms the owner of a name."""
    canvas = Canvas(760, 230, "A client compares the owner on chain with the domain's document")
    canvas.box(20, 20, 200, 70, "Sui", "com.acme.weather.forecast", "owner: 0x52c4…", kind="chain")
    canvas.box(
        20, 140, 200, 70, "weather.acme.com", "/.well-known/nexus-tools.json", "owners: 0x52c4…"
    )
    canvas.box(320, 80, 150, 70, "client", "compares the owners")
    canvas.box(570, 20, 170, 60, "confirmed", "lists the owner", kind="good")
    canvas.box(570, 150, 170, 60, "not confirmed", "does not list the owner", kind="bad")
    canvas.arrow((220, 55), (270, 55), (270, 100), (320, 100))
    canvas.arrow((220, 175), (270, 175), (270, 130), (320, 130))
    canvas.arrow((470, 100), (520, 100), (520, 50), (570, 50))
    canvas.arrow((470, 130), (520, 130), (520, 180), (570, 180))
    return canvas.svg()


def index() -> str:
    """Draw the processes that write and read the index."""
    canvas = Canvas(760, 270, "One process writes the index, and many programs read it")
    canvas.box(20, 100, 110, 70, "Sui", "events", kind="chain")
    canvas.box(210, 100, 140, 70, "index run", "follows the events")
    canvas.box(430, 90, 120, 90, "index", "SQLite file", "search engine", kind="good")
    readers = ("tool search", "explorer", "index serve", "mcp serve", "Python")
    notes = ("command line", "browser", "HTTP API", "agents", "nexus.index")
    for number, (name, note) in enumerate(zip(readers, notes, strict=True)):
        y = 12 + number * 50
        canvas.box(640, y, 110, 44, name, note)
        canvas.arrow((550, 135), (595, 135), (595, y + 22), (640, y + 22))
    canvas.arrow((130, 135), (210, 135))
    canvas.arrow((350, 135), (430, 135))
    canvas.text(390, 126, "writes")
    canvas.text(572, 126, "read")
    return canvas.svg()


def agent() -> str:
    """Draw how an agent calls registered tools through the MCP server, without and with payment."""
    canvas = Canvas(760, 240, "An agent calls registered tools, directly or by paid invocations")
    canvas.box(20, 90, 120, 60, "MCP client", "agent")
    canvas.box(230, 80, 150, 80, "mcp serve", "finds tools,", "limits the budget", kind="good")
    canvas.box(480, 150, 110, 70, "Sui", "invocations", kind="chain")
    canvas.box(640, 150, 100, 70, "Leader")
    canvas.box(640, 20, 100, 60, "tool", "HTTPS")
    canvas.arrow((140, 110), (230, 110))
    canvas.text(185, 102, "call")
    canvas.arrow((230, 132), (140, 132))
    canvas.text(185, 150, "outcome")
    canvas.arrow((305, 80), (305, 50), (640, 50))
    canvas.text(470, 42, "direct call: unpaid, the default")
    canvas.arrow((380, 130), (430, 130), (430, 185), (480, 185))
    canvas.text(422, 205, "--on-chain: paid")
    canvas.arrow((590, 185), (640, 185))
    canvas.arrow((690, 150), (690, 80))
    canvas.text(682, 118, "POST /invoke", anchor="end")
    return canvas.svg()


def upgrade() -> str:
    """Draw the times of an upgrade under an upgrade lock, and of an owner who leaves."""
    canvas = Canvas(760, 198, "An upgrade is public for 14 days, so owners can leave before it")
    canvas.arrow((30, 100), (740, 100))
    for day, label in ((0, "proposal"), (14, "notice ends"), (21, "upgrade expires")):
        x = 60 + day * 30
        canvas.line((x, 60), (x, 108))
        canvas.text(x, 30, f"day {day}", "title")
        canvas.text(x, 48, label)
    canvas.box(60, 64, 420, 28, "everyone can review the upgrade", kind="chain")
    canvas.box(480, 64, 210, 28, "anyone can execute it", kind="bad")
    canvas.line((150, 100), (150, 130))
    canvas.box(150, 130, 210, 28, "unregister delay: 7 days", kind="good")
    canvas.box(360, 130, 120, 28, "slash: 4 days", kind="good")
    canvas.text(150, 178, "day 3: an owner leaves", anchor="start")
    canvas.text(480, 178, "day 14: the collateral is claimable", anchor="end")
    return canvas.svg()


def terminal() -> str:
    """Draw the output of the tutorial's last section, which a test executes and compares."""
    section = Page.read("docs/tutorial.md").section("Claim the collateral")
    consoles = [
        block for block in section.blocks if block.language == "console" and not block.title
    ]
    return _screen(consoles, "The collateral is claimed in a terminal")


def _screen(blocks: list[Block], says: str) -> str:
    lines = [_cut(line) for block in blocks for line in block.text.splitlines()]
    canvas = Canvas(760, 34 + LINE_HEIGHT * len(lines), says)
    for number, line in enumerate(lines):
        kind = "done" if "✓" in line[:3] else "wrong" if line.startswith("error:") else ""
        kind = "title" if line.startswith("$ ") else kind
        canvas.text(18, 30 + number * LINE_HEIGHT, line, f"mono {kind}".strip(), "start")
    return canvas.svg()


def _cut(line: str) -> str:
    return line if len(line) <= 92 else f"{line[:91]}…"


def workflow(file: str) -> str:
    """Draw a workflow of the examples, as `workflow draw` does."""
    document = read_workflow(str(ROOT / "examples/workflows" / file)).document
    assert document is not None
    return draw_svg(document)


PICTURES: Mapping[str, Callable[[], str]] = {
    "loop": loop,
    "life": life,
    "windows": windows,
    "leader": leader,
    "money": money,
    "fleet": fleet,
    "schedule": schedule,
    "signatures": signatures,
    "domain": domain,
    "index": index,
    "agent": agent,
    "upgrade": upgrade,
    "claim": terminal,
    "count": lambda: workflow("count.json"),
    "write": lambda: workflow("write.json"),
    "root": lambda: workflow("root.py"),
    "rates": lambda: workflow("rates.py"),
    "badge": lambda: workflow("badge.py"),
    "job": lambda: workflow("job.py"),
}

SCREENSHOTS: Mapping[str, str] = {
    "explorer-home": "/",
    "explorer-tool": "/tools/{tool}",
    "explorer-invocation": "/invocations/{invocation}",
    "explorer-execution": "/executions/{execution}",
}
"""The paths of pages in the explorer of `drawing.market`, by the names of their screenshots."""
SCHEMES = ("light", "dark")
MAX_BYTES = 150_000
"""The largest screenshot, in bytes."""
