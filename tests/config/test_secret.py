from __future__ import annotations

import http.client

from attrs import frozen

from otelgpu.config.secret import Secret


@frozen
class Holder:
    token: Secret
    headers: dict[str, Secret]


def test_no_way_of_printing_shows_it() -> None:
    secret = Secret("hunter2")
    holder = Holder(secret, {"a": secret})
    printed = [
        str(secret),
        repr(secret),
        f"{secret}",
        f"{secret!s:>20}",
        "{}".format(secret),  # noqa: UP032 - another way of printing
        "%s %r" % (secret, secret),  # noqa: UP031 - another way of printing
        repr(holder),
        str([secret]),
    ]
    assert "hunter2" not in "".join(printed)
    assert all("[redacted]" in text for text in printed)


def test_it_can_be_sent() -> None:
    secret = Secret("hunter2")
    assert type(secret.reveal()) is str
    assert secret.reveal() == "hunter2" == secret
    assert "Bearer " + secret == "Bearer hunter2"
    assert secret.encode() == b"hunter2"
    connection = http.client.HTTPConnection("localhost")
    connection.putrequest("GET", "/")
    connection.putheader("Authorization", secret)
    assert b"Authorization: hunter2" in connection._buffer  # type: ignore[attr-defined]
