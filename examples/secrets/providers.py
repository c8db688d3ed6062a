"""Services that many people have an account with, as `connect` is told of them; from what these publish."""

from askback.oauth import Provider


# --8<-- [start:google]
def google(client_id: str, client_secret: str) -> Provider:
    """Without access_type it gives no refresh token; with prompt it gives one again to who has agreed before."""
    return Provider(
        name="google",
        title="Google",
        issuer="https://accounts.google.com",
        client_id=client_id,
        client_secret=client_secret,
        extra={"access_type": "offline", "prompt": "consent"},
    )


# --8<-- [end:google]


# --8<-- [start:github]
def github(client_id: str, client_secret: str) -> Provider:
    """It has no discovery for this, so the endpoints are written out."""
    return Provider(
        name="github",
        title="GitHub",
        authorization_endpoint="https://github.com/login/oauth/authorize",
        token_endpoint="https://github.com/login/oauth/access_token",
        client_id=client_id,
        client_secret=client_secret,
    )


# --8<-- [end:github]


# --8<-- [start:entra]
def entra(tenant: str, client_id: str, client_secret: str | None = None) -> Provider:
    """The tenant by its id: for "common" the issuer calls itself by a pattern, and is not believed."""
    return Provider(
        name="entra",
        title="Microsoft",
        issuer=f"https://login.microsoftonline.com/{tenant}/v2.0",
        client_id=client_id,
        client_secret=client_secret,
    )


# --8<-- [end:entra]
