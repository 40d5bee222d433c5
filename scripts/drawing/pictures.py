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
    "claim": terminal,
    "count": lambda: workflow("count.json"),
    "write": lambda: workflow("write.json"),
    "root": lambda: workflow("root.py"),
    "rates": lambda: workflow("rates.py"),
    "badge": lambda: workflow("badge.py"),
    "job": lambda: workflow("job.py"),
}
