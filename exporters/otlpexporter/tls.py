"""Keys and certificates of a client, with errors that name the file."""

from __future__ import annotations

import errno
import ssl
from pathlib import Path


class TlsFileError(OSError):
    """A file of keys or certificates cannot be read or used; ``filename`` is it."""


def client_context(ca_file: str, cert_file: str, key_file: str) -> ssl.SSLContext:
    """Return a context of these files, each of which may be empty.

    Raises:
        TlsFileError: One of them cannot be read, or holds something else.
    """
    # ssl's own errors name no file.
    for file in filter(None, (ca_file, cert_file, key_file)):
        try:
            Path(file).open("rb").close()
        except OSError as error:
            raise TlsFileError(error.errno, error.strerror, file) from error
    try:
        context = ssl.create_default_context(cafile=ca_file or None)
    except ssl.SSLError as error:
        raise _unusable(f"no certificates in PEM format ({error.reason})", ca_file) from error
    if cert_file:
        try:
            context.load_cert_chain(cert_file, key_file)
        except ssl.SSLError as error:
            if error.reason == "KEY_VALUES_MISMATCH":
                words = "tls.cert_file and tls.key_file do not belong together"
            else:
                words = f"tls.cert_file and tls.key_file are no pair in PEM format ({error.reason})"
            raise _unusable(words, cert_file) from error
    return context


def _unusable(words: str, file: str) -> TlsFileError:
    return TlsFileError(errno.EINVAL, words, file)
