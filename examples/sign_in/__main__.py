"""The sign-in example, with a provider of your choice: one that knows this client and its callbacks.

SIGN_IN_ISSUER=https://id.example SIGN_IN_CLIENT_ID=profile python -m examples.sign_in
With --http, the callers of /mcp come from that issuer too; its tokens must be JWTs for http://127.0.0.1:8000/mcp.
"""

import os
from argparse import ArgumentParser

import httpx2

from askback.oauth import Provider
from askback.pages import SignIn
from examples.sign_in.server import make_local_server, make_server
from examples.sign_in.tokens import Tokens

CALLBACK_PORT = 8765
"""Of the pages, for a server on stdio."""

NEEDED = {
    "SIGN_IN_ISSUER": "the issuer of an OpenID provider, such as https://id.example",
    "SIGN_IN_CLIENT_ID": "how this server is registered there; its callback is told in examples/sign_in/server.py",
}


def main() -> None:
    """Serve until the client leaves, or for ever."""
    parser = ArgumentParser(prog="python -m examples.sign_in")
    parser.add_argument("--http", action="store_true", help="serve HTTP instead of stdio")
    parser.add_argument("--port", type=int, default=8000, help="for HTTP")
    parser.add_argument("--callback-port", type=int, default=CALLBACK_PORT, help="for stdio")
    chosen = parser.parse_args()
    missing = [name for name in NEEDED if not os.environ.get(name)]
    if missing:
        parser.error(f"set {' and '.join(missing)}: {'; '.join(NEEDED[name] for name in missing)}")
    issuer, client_id = (os.environ[name] for name in NEEDED)
    secret = os.environ.get("SIGN_IN_CLIENT_SECRET")
    account = Provider(name="account", client_id=client_id, client_secret=secret, issuer=issuer)
    told = httpx2.get(f"{issuer.rstrip('/')}/.well-known/openid-configuration").raise_for_status().json()
    if not chosen.http:
        make_local_server(account, told["userinfo_endpoint"], port=chosen.callback_port).run()
        return
    url = f"http://127.0.0.1:{chosen.port}"
    door = SignIn(issuer=issuer, client_id=client_id, client_secret=secret)
    tokens = Tokens(issuer=issuer, jwks=told["jwks_uri"], resource=f"{url}/mcp")
    server = make_server(url, account, told["userinfo_endpoint"], door=door, tokens=tokens)
    server.run("streamable-http", port=chosen.port)


if __name__ == "__main__":
    main()
