"""Checks of settings, each with the remedy in its words: what cannot work is found before it runs.

All raise ValueError.
"""

from __future__ import annotations

import re
from datetime import timedelta
from urllib.parse import SplitResult, urlsplit

from attrs import Attribute

from otelgpu.config.secret import Secret

Headers = dict[str, Secret]

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
# Printable ASCII; a tab only over HTTP.
_VALUE = re.compile(r"[ -~\t]*")
_KEY = re.compile(r"[0-9a-z_.-]+")
_ASCII = re.compile(r"[ -~]*")
_URL = re.compile(r"[!-~]+")
_SCHEMES = ("http://", "https://")

# What a request says of itself. Written by hand, the server would take it for something else.
_HTTP_OWN = {
    "connection": "leave it out",
    "content-encoding": "write compression instead",
    "content-length": "leave it out",
    "content-type": "leave it out",
    "host": "write endpoint instead",
    "transfer-encoding": "leave it out",
}
_GRPC_OWN = {
    "connection": "leave it out",
    "content-length": "leave it out",
    "content-type": "leave it out",
    "host": "write endpoint instead",
    "te": "leave it out",
    "transfer-encoding": "leave it out",
}


def headers(_: object, __: object, value: Headers | None) -> None:
    """Accept headers that HTTP can carry and that are not the exporter's own."""
    for name, secret in (value or {}).items():
        if not _TOKEN.fullmatch(name):
            raise ValueError(f"{name!r} is no name of a header; write letters, digits and dashes")
        if not _VALUE.fullmatch(secret.reveal()):
            raise ValueError(f"the value of header {name} is not printable ASCII; encode it")
        if name.lower() in _HTTP_OWN:
            raise ValueError(f"header {name} is the exporter's own; {_HTTP_OWN[name.lower()]}")
    _once(value)


def metadata(_: object, __: object, value: Headers | None) -> None:
    """Accept metadata that gRPC can carry; names are written in lower case for it."""
    for name, secret in (value or {}).items():
        key = name.lower()
        if not _KEY.fullmatch(key):
            raise ValueError(f"{name!r} is no name in gRPC; write letters, digits, -, _ and .")
        if not _ASCII.fullmatch(secret.reveal()):
            raise ValueError(f"the value of {name} is not printable ASCII; encode it")
        if key.endswith("-bin"):
            raise ValueError(f"{name} would be binary in gRPC; use a name without -bin")
        if key.startswith("grpc-") or key in _GRPC_OWN:
            raise ValueError(f"{name} is gRPC's own; {_GRPC_OWN.get(key, 'leave it out')}")
    _once(value)


def timeout(_: object, __: object, value: timedelta | None) -> None:
    """Accept a time above zero."""
    if value is not None and value <= timedelta(0):
        raise ValueError("timeout must be longer than 0s")


def base_url(instance: object, attribute: Attribute[str], value: str) -> None:
    """Accept an absolute URL to which a path can be appended."""
    url(instance, attribute, value)
    if "?" in value or "#" in value:
        raise ValueError(
            "a path is appended to endpoint, so it takes no query and no fragment; "
            "write the whole URLs as metrics_endpoint and logs_endpoint"
        )


def url(_: object, attribute: Attribute[str], value: str) -> None:
    """Accept an absolute URL; nothing where the setting may be empty."""
    if not value and attribute.name != "endpoint":
        return
    if "://" not in value:
        raise ValueError(f"{value} has no scheme; write http://{value or 'localhost:4318'}")
    parts = urlsplit(value)
    _no_user(parts)
    if parts.scheme not in {"http", "https"}:
        raise ValueError(f"scheme {parts.scheme} is not known; write http:// or https://")
    if not parts.hostname or not _URL.fullmatch(value):
        raise ValueError(f"{value} is no URL of a host; write {parts.scheme}://localhost:4318")
    if "#" in value:
        raise ValueError("a URL's fragment is never sent; leave out # and what follows")
    _authority(parts)


def grpc_target(_: object, attribute: Attribute[str], value: str) -> None:
    """Accept ``host:port``, a URL without a path, or a target of gRPC's own naming."""
    if not value and attribute.name != "endpoint":
        return
    if value.startswith("unix:"):
        _unix(value)
        return
    if value.startswith("dns:"):
        _dns(value)
        return
    scheme, separator, rest = value.partition("://")
    if separator and not value.startswith(_SCHEMES):
        raise ValueError(f"scheme {scheme} is not known; write http://, https:// or host:port")
    parts = urlsplit(f"//{rest if separator else value}")
    _no_user(parts)
    if not parts.hostname or not parts.port:
        raise ValueError(f"{value!r} names no host and port; write localhost:4317")
    if parts.path.strip("/") or "?" in value or "#" in value:
        raise ValueError(f"gRPC takes no path; write {parts.netloc}, or use otlp_http")
    _authority(parts)


def host(_: object, __: object, value: str) -> None:
    """Accept the name or address of a host; nothing too."""
    if value:
        _host(value)


def _once(value: Headers | None) -> None:
    seen: set[str] = set()
    for name in value or {}:
        if name.lower() in seen:
            raise ValueError(f"{name} is written twice, case does not matter; leave one")
        seen.add(name.lower())


def _no_user(parts: SplitResult) -> None:
    # Checked first: no other message may show a password.
    if parts.username is not None:
        raise ValueError("a user or password does not belong in a URL; write it in headers")


def _authority(parts: SplitResult) -> None:
    if parts.port == 0:  # and raises ValueError itself where it is no port
        raise ValueError("port 0 is none; write the port of the receiver")
    _host(parts.hostname or "")


def _host(name: str) -> None:
    try:
        name.encode("idna")
    except UnicodeError:
        wrong = True
    else:
        wrong = name.startswith(".")
    if wrong:
        raise ValueError(
            f"{name} cannot be the name of a host; "
            "write labels of 1 to 63 characters with a dot between them"
        )


def _unix(value: str) -> None:
    path = value.removeprefix("unix:")
    if path.startswith("//") and not path.startswith("///"):
        raise ValueError(f"{value} has no absolute path; write unix:///path or unix:path")
    if not path.strip("/"):
        raise ValueError(f"{value} names no socket; write unix:///path")


def _dns(value: str) -> None:
    rest = value.removeprefix("dns:")
    if rest.startswith("//"):
        rest = rest.removeprefix("//").partition("/")[2]
    parts = urlsplit(f"//{rest}")
    _no_user(parts)
    if not parts.hostname:
        raise ValueError(f"{value} names no host; write dns:///localhost:4317")
    _authority(parts)
