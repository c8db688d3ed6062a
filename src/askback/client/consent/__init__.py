"""Consent to links: what a link is, whether it may be opened at all, and what a person should know first."""

from askback.client.consent.browser import Opener, open_in_browser
from askback.client.consent.sites import KnownSites, SharedSites, Sites, path_of_user
from askback.client.consent.verdict import Verdict, judge

__all__ = [
    "KnownSites",
    "Opener",
    "SharedSites",
    "Sites",
    "Verdict",
    "judge",
    "open_in_browser",
    "path_of_user",
]
