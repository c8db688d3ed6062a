"""A pretend weather service, elsewhere as far as the server knows: it speaks HTTP and wants a key in a header."""

from hmac import compare_digest

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

KEY = "sunshine"
"""The one key it knows; try another to see it refused."""

HINT = f"This weather service is pretended. It takes the key: {KEY}"
"""Where people would be told how to get one."""

SKIES = ["sun all day", "clouds, and some sun", "rain until noon", "wind from the sea"]


def make_service(key: str = KEY) -> Starlette:
    """The service as an application."""

    async def forecast(request: Request) -> Response:
        if not compare_digest(request.headers.get("x-api-key", "").encode(), key.encode()):
            return PlainTextResponse("This key is not known here.", 401)
        city = request.query_params.get("city", "")
        return PlainTextResponse(f"{city} tomorrow: {SKIES[len(city) % len(SKIES)]}")

    return Starlette(routes=[Route("/forecast", forecast)])
