"""A host of one's own that asks before it opens a link: judged first, opened only on a person's word."""

from collections.abc import Callable

from askback.client.consent import KnownSites, Opener, judge, open_in_browser


# --8<-- [start:open]
def visit(
    url: str,
    *,
    server: str,
    agrees: Callable[[str], bool],
    sites: KnownSites,
    opener: Opener = open_in_browser,
) -> str:
    """What came of it, for the person: refused, declined, opened, or shown for copying."""
    verdict = judge(url, before=sites.before(server))
    if not verdict.allowed:
        return f"Not opened. {verdict.refusal}"
    if not agrees("\n".join([f"{server} sends you to {verdict.domain}", verdict.href, *verdict.warnings])):
        return "Not opened."
    sites.remember(server, verdict.domain)
    return "Opened." if opener(verdict) else f"Open this yourself: {verdict.href}"


# --8<-- [end:open]
