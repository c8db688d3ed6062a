"""A value that stands nowhere by chance, and a search that knows it in whatever dress it comes."""

import base64
from collections.abc import Iterator, Mapping
from hashlib import md5, sha1, sha256
from html import escape
from secrets import token_hex


class Canary:
    """Its core is plain letters, so that escapes leave it whole; around it stand signs that every format escapes."""

    def __init__(self, value: str = "") -> None:
        """A new one, or something that is as rare."""
        self.core = value or f"Kanari{token_hex(8)}Vogel"
        self.value = value or f'{self.core} /+&"<%\\ü'

    def __repr__(self) -> str:
        return "<canary>"

    def places(self, places: Mapping[str, bytes]) -> dict[str, list[str]]:
        """Where it was found, and in which dress."""
        dresses = dict(self.dresses())
        found = {
            place: [name for name, dress in dresses.items() if dress in content]
            for place, content in places.items()
        }
        return {place: names for place, names in found.items() if names}

    def dresses(self) -> Iterator[tuple[str, bytes]]:
        core, value = self.core.encode(), self.value.encode()
        yield "plain", core
        yield "backwards", core[::-1]
        yield "hex", core.hex().encode()
        yield "hex in capitals", core.hex().upper().encode()
        yield "percent", "".join(f"%{sign:02x}" for sign in core).encode()
        yield "percent in capitals", "".join(f"%{sign:02X}" for sign in core).encode()
        yield "JSON escapes", "".join(f"\\u{sign:04x}" for sign in core).encode()
        yield "HTML escapes", "".join(f"&#{sign};" for sign in core).encode()
        yield "escaped HTML", escape(self.value).encode()
        yield "UTF-16", self.core.encode("utf-16-le")
        yield "UTF-32", self.core.encode("utf-32-le")
        for digest in (md5, sha1, sha256):
            yield f"{digest.__name__}", digest(value).digest()
            yield f"{digest.__name__} in hex", digest(value).hexdigest().encode()
        for before in range(3):
            # The first and last signs depend on what stands around it.
            skipped = -(-before * 8 // 6)
            encoded = base64.b64encode(b"\0" * before + core)
            yield f"base64, {before} bytes in", encoded[skipped + 1 : -4]
            yield (
                f"URL-safe base64, {before} bytes in",
                (base64.urlsafe_b64encode(b"\0" * before + core)[skipped + 1 : -4]),
            )
