"""A record of everything in pages that a reader must never meet."""

from urllib.parse import urlsplit

from playwright.async_api import ConsoleMessage, Dialog, Page, Request, Response

_LOCAL_SCHEMES = ("data", "blob", "about")


class PageLog:
    """The faults of pages, one line for each, in order.

    Faults are errors and warnings on the console, such as violations of the Content Security
    Policy, and exceptions of scripts. Failed requests, responses with a status of 400 or more, and
    requests to other hosts are faults too. So are dialogs, downloads and new windows.
    """

    def __init__(self) -> None:
        self._faults: list[str] = []

    def watch(self, page: Page) -> None:
        """Add the faults of a page from now on."""
        page.on("console", self._on_console)
        page.on("pageerror", lambda error: self._add("exception", error.message))
        page.on("request", self._on_request)
        page.on("requestfailed", self._on_failure)
        page.on("response", self._on_response)
        page.on("dialog", self._on_dialog)
        page.on("download", lambda download: self._add("download", download.url))
        page.on("popup", lambda popup: self._add("new window", popup.url))

    def take(self) -> list[str]:
        """Return the faults since the last call."""
        faults, self._faults = self._faults, []
        return faults

    def _add(self, kind: str, text: str | None) -> None:
        self._faults.append(f"{kind}: {text}")

    def _on_console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self._add(f"console {message.type}", message.text)

    def _on_request(self, request: Request) -> None:
        url = urlsplit(request.url)
        if url.scheme not in _LOCAL_SCHEMES and url.hostname != "127.0.0.1":
            self._add("request to another host", request.url)

    def _on_failure(self, request: Request) -> None:
        # Chromium aborts the requests of a page that the reader leaves.
        if request.failure != "net::ERR_ABORTED":
            self._add("failed request", f"{request.url}: {request.failure}")

    def _on_response(self, response: Response) -> None:
        if response.status >= 400:
            self._add(f"status {response.status}", response.url)

    async def _on_dialog(self, dialog: Dialog) -> None:
        self._add("dialog", dialog.message)
        await dialog.dismiss()
