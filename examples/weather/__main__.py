"""The weather example, whole: a pretend service, and before it the server that asks for its key.

askback call "python -m examples.weather" forecast city=Delft
python -m examples.weather --http, and then: askback call http://127.0.0.1:8000/mcp forecast city=Delft
"""

from argparse import ArgumentParser

import anyio

from examples.listening import listening
from examples.weather.server import behind_proxy, for_one_person, make_server
from examples.weather.service import HINT, make_service


async def run(*, http: bool, port: int, header: str | None) -> None:
    """Serve until the client leaves, or for ever."""
    url = f"http://127.0.0.1:{port}"
    async with listening(make_service()) as service:
        if not http:
            await make_server(service, hint=HINT).run_stdio_async()
            return
        options = for_one_person(url) if header is None else behind_proxy(url, header)
        await make_server(service, hint=HINT, **options).run_streamable_http_async(
            host="127.0.0.1", port=port
        )


if __name__ == "__main__":
    parser = ArgumentParser(prog="python -m examples.weather")
    parser.add_argument("--http", action="store_true", help="serve HTTP instead of stdio")
    parser.add_argument("--port", type=int, default=8000, help="for HTTP")
    parser.add_argument("--header", help="in which a proxy that signs people in names them")
    chosen = parser.parse_args()
    anyio.run(lambda: run(http=chosen.http, port=chosen.port, header=chosen.header))
