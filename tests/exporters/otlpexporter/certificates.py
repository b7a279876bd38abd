"""Certificates for tests, made by the openssl command."""

from __future__ import annotations

import os
import shutil
import ssl
import subprocess
from pathlib import Path

import grpc
import pytest
from attrs import frozen


@frozen
class Certificates:
    """An authority, and a server and a client that it vouches for; the server is 127.0.0.1."""

    folder: Path

    @property
    def ca(self) -> str:
        return str(self.folder / "ca.pem")

    @property
    def client(self) -> tuple[str, str]:
        return str(self.folder / "client.pem"), str(self.folder / "client.key")

    def http(self, *, mutual: bool = False) -> ssl.SSLContext:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(self.folder / "server.pem", self.folder / "server.key")
        if mutual:
            context.verify_mode = ssl.CERT_REQUIRED
            context.load_verify_locations(self.ca)
        return context

    def grpc(self, *, mutual: bool = False) -> grpc.ServerCredentials:
        pair = (
            (self.folder / "server.key").read_bytes(),
            (self.folder / "server.pem").read_bytes(),
        )
        authority = Path(self.ca).read_bytes() if mutual else None
        return grpc.ssl_server_credentials([pair], authority, require_client_auth=mutual)


def make(folder: Path) -> Certificates:
    """Make certificates in ``folder``; skip the test where there is no openssl."""
    if shutil.which("openssl") is None:
        if os.environ.get("OTELGPU_REQUIRE_PEERS"):
            pytest.fail("the openssl command is missing")
        pytest.skip("makes certificates with the openssl command")
    _openssl(folder, "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2")
    for name, alternative in (("server", "IP:127.0.0.1,DNS:otlp.test"), ("client", "DNS:agent")):
        key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes"
        request = f"req {key} -keyout {name}.key -out {name}.csr -subj /CN={name}"
        _run(folder, request.split())
        (folder / "extensions").write_text(f"subjectAltName={alternative}\n")
        sign = f"x509 -req -in {name}.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2"
        _run(folder, [*sign.split(), "-extfile", "extensions", "-out", f"{name}.pem"])
    return Certificates(folder)


def _openssl(folder: Path, command: str) -> None:
    _run(folder, [*command.split(), "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=Test CA"])


def _run(folder: Path, arguments: list[str]) -> None:
    subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)
