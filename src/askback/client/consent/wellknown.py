"""Sites whose names are borrowed most: where people sign in, pay and keep their code. No judgement on any of them."""

from typing import Final

WELL_KNOWN: Final = frozenset((
    "adobe.com", "airbnb.com", "aliexpress.com", "amazon.co.uk", "amazon.com", "amazon.de",
    "apple.com", "atlassian.com", "auth0.com", "bankofamerica.com", "binance.com", "bitbucket.org",
    "booking.com", "box.com", "chase.com", "cloudflare.com", "coinbase.com",
    "databricks.com", "dhl.com", "digitalocean.com", "discord.com", "docker.com", "docusign.com",
    "dropbox.com", "ebay.com", "facebook.com", "fedex.com", "figma.com", "gitea.com", "github.com",
    "gitlab.com", "gmail.com", "google.com", "googleapis.com", "grafana.com", "heroku.com", "hubspot.com",
    "huggingface.co", "icloud.com", "instagram.com", "intuit.com", "jira.com", "linear.app", "linkedin.com",
    "live.com", "microsoft.com", "microsoftonline.com", "mongodb.com", "netflix.com", "netlify.com",
    "notion.so", "npmjs.com", "office.com", "okta.com", "onedrive.com", "oracle.com",
    "outlook.com", "paypal.com", "pypi.org", "python.org", "reddit.com", "revolut.com", "salesforce.com",
    "sap.com", "sentry.io", "shopify.com", "slack.com", "snowflake.com", "spotify.com", "stackoverflow.com",
    "steampowered.com", "stripe.com", "supabase.com", "telegram.org", "tiktok.com", "trello.com",
    "twitch.tv", "twitter.com", "usps.com", "vercel.com", "wellsfargo.com", "whatsapp.com", "wikipedia.org",
    "wise.com", "x.com", "yahoo.com", "youtube.com", "zendesk.com", "zoom.us",
))  # fmt: skip
"""Only to say "this is not that site": a link to a site that is not listed is judged like any other."""

BORROWED: Final = frozenset(("com", "org", "net", "gov", "edu"))
"""Endings that belong at the end: inside a host they make a sub-domain look like a site of its own."""
