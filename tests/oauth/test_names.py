"""A request goes to an address that was judged; who must be there is still told by the name, and proved (T12)."""

import asyncio
import ssl
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import anyio
import httpx2
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from askback.oauth import transport
from askback.oauth.transport import BoundedTransport, fetch_json

pytestmark = pytest.mark.verifies("T12")

ANSWER = (
    b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}"
)


def certify(name: str, folder: Path) -> tuple[Path, Path]:
    """A certificate for that name, signed by itself, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    certificate, secret = folder / "certificate.pem", folder / "key.pem"
    certificate.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    secret.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    return certificate, secret


@asynccontextmanager
async def listening(
    name: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncGenerator[tuple[int, list[str]]]:
    """Somebody who can prove that name, and whom this machine believes; the port, and what they are asked."""
    certificate, key = certify(name, folder)
    proof = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    proof.load_cert_chain(certificate, key)
    asked: list[str] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append((await reader.readuntil(b"\r\n\r\n")).decode())
        writer.write(ANSWER)
        await writer.drain()
        writer.close()

    def trusted() -> ssl.SSLContext:
        return ssl.create_default_context(cafile=str(certificate))

    monkeypatch.setattr(transport, "_trusted", trusted)
    server = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=proof)
    async with server:
        yield server.sockets[0].getsockname()[1], asked


async def fetched(port: int, monkeypatch: pytest.MonkeyPatch) -> object:
    async def resolve(url: httpx2.URL) -> list[str]:
        assert url.host == "id.example"
        return ["127.0.0.1"]

    monkeypatch.setattr(transport, "resolve", resolve)
    with anyio.fail_after(10):
        return await fetch_json(f"https://id.example:{port}/keys", BoundedTransport())


async def test_whoever_can_prove_the_name_is_asked_under_that_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    async with listening("id.example", tmp_path, monkeypatch) as (port, asked):
        assert await fetched(port, monkeypatch) == {}
    assert f"Host: id.example:{port}" in asked[0]


async def test_whoever_can_prove_another_name_only_is_told_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    async with listening("other.example", tmp_path, monkeypatch) as (port, asked):
        with pytest.raises(httpx2.ConnectError, match="certificate"):
            await fetched(port, monkeypatch)
    assert asked == []
