"""The names of auth providers."""

from __future__ import annotations

from enum import Enum
from typing import Any, cast

_NAMES = (
    "activeloop adobe affinity agentql ahrefs airtable alchemy altoviz apitoken asana bamboohr "
    "basicauth bitbucket bitwarden brevo brex cal calendly canvas clickup cloudflare dailybot "
    "datadog discord discordbot elevenlabs exa facebook finage github google gumloop happyrobot "
    "heygen hubspot jira klaviyo kraken lever lever_sandbox linear linkedin listennotes mailchimp "
    "mem0 microsoft_clarity neon ngrok notion oncehub pagerduty pandadoc pipedrive posthog "
    "ravenseotools reddit salesforce semantic_scholar sendgrid serpapi slack spotify stripe "
    "supabase tavily timekit trello valyu wandb weaviate workiom x zinc zoom"
)


class _Provider(Enum):
    @classmethod
    def get_auth_provider(cls, auth_provider_name: str) -> _Provider:
        """Return the provider with this name, ignoring case.

        Raises:
            ValueError: if the name is unknown.
        """
        return cls(auth_provider_name.lower())


# `AuthProvider.GITHUB` has the value `github`.
AuthProvider: Any = cast("Any", _Provider)(
    "AuthProvider", {name.upper(): name for name in _NAMES.split()}
)
