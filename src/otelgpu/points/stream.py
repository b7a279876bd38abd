"""One time series as its source sees it, and the service-wide store of them."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from weakref import WeakValueDictionary

from otelgpu.points.metric import Metric

AttributeValue = str | int | float | bool
Attributes = Mapping[str, AttributeValue]


class Stream:
    """One (metric, attributes); compared by identity.

    A stream is made once, when a device is bound to its table, and found again by the same key
    after a reload or from another source. Whoever derives something from a stream (an enriched
    stream, encoded bytes) keeps it in a mapping keyed by the stream itself, never by its id, and
    frees it when the stream is in a batch's ``ended``.
    """

    __slots__ = ("__weakref__", "attributes", "metric")

    def __init__(self, metric: Metric, attributes: Attributes) -> None:
        self.metric = metric
        self.attributes = attributes

    def __repr__(self) -> str:
        return f"{self.metric.name}{dict(self.attributes)}"


class Streams:
    """The service's streams: the same metric and attributes always give the same stream.

    Safe to use from any thread. A stream that nobody holds any more is forgotten.
    """

    def __init__(self) -> None:
        self._streams: WeakValueDictionary[tuple[Metric, frozenset[tuple[str, object]]], Stream]
        self._streams = WeakValueDictionary()
        self._lock = threading.Lock()

    def get(self, metric: Metric, attributes: Attributes) -> Stream:
        """Return the stream of ``metric`` with exactly these attributes."""
        key = (metric, frozenset(attributes.items()))
        with self._lock:
            stream = self._streams.get(key)
            if stream is None:
                # A copy: the key must stay true whatever the caller does with its mapping.
                stream = self._streams[key] = Stream(metric, dict(attributes))
            return stream

    def __len__(self) -> int:
        return len(self._streams)
