"""The option for remote indices."""

from collections.abc import Sequence

import click

from nexus_tools.cli.framework import Session

INDEX_URL_OPTION = click.option(
    "--index-url",
    "index_urls",
    multiple=True,
    metavar="URL",
    help="Remote index that also proposes tools. May be repeated. Default: the setting index_url.",
)


def selected_index_urls(session: Session, urls: Sequence[str]) -> Sequence[str]:
    """Return the URLs of the option, or else of the setting. Raises `index_url_invalid`."""
    from nexus_tools.settings.setting_values import parse_index_url

    return [*dict.fromkeys(map(parse_index_url, urls))] or session.settings.index_urls
