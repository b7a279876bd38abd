"""Connects within one deadline, whatever the number of a host's addresses."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable


def left(deadline: float) -> float:
    """Return the seconds until ``deadline`` (monotonic seconds).

    Raises:
        TimeoutError: There are none.
    """
    seconds = deadline - time.monotonic()
    if seconds <= 0:
        raise TimeoutError
    return seconds


def connect(
    host: str, port: int, deadline: float, hold: Callable[[socket.socket], None]
) -> socket.socket:
    """Return a socket that is connected to one of the host's addresses, tried in their order.

    ``hold`` is given each socket before it connects, so that another thread can shut it down.
    Only the look-up of the name is not bound by the deadline: no system can break one off.

    Raises:
        OSError: There is no such host, or no address of it was reached by ``deadline``.
    """
    try:
        addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except UnicodeError as error:
        raise OSError(f"{host} cannot be the name of a host") from error
    failure: OSError = OSError(f"{host} has no address")
    for index, (family, kind, protocol, _, address) in enumerate(addresses):
        sock = None
        try:
            sock = socket.socket(family, kind, protocol)
            hold(sock)
            # An address that never answers leaves the others their share of the time.
            sock.settimeout(left(deadline) / (len(addresses) - index))
            sock.connect(address)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError as error:
            failure = error
            if sock is not None:
                sock.close()
        else:
            return sock
    raise failure
