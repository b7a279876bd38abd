"""YAML nodes to plain values, with the checks that PyYAML's own constructor leaves out."""

from __future__ import annotations

from typing import Any

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from otelgpu.config.mistake import Findings
from otelgpu.config.schema import TAG, scalar

_TYPES: dict[str, tuple[type, ...]] = {
    f"{TAG}null": (type(None),),
    f"{TAG}bool": (bool,),
    f"{TAG}int": (int,),
    f"{TAG}float": (float, int),
}
_MERGE = f"{TAG}merge"
LARGEST = 100_000
"""Most values of one file: nested aliases can stand for more than any memory holds."""


class Constructor:
    """Builds the value of one file's nodes and notes all mistakes with their lines."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._open: set[int] = set()
        self._made = 0
        self.findings = Findings()

    def value(self, node: Node) -> Any:
        """Return the value of ``node``: dict, list, text, number, boolean or None.

        What is wrong is noted in ``findings`` and stands in the result as None.
        """
        self._made += 1
        if self._made > LARGEST:
            if self._made == LARGEST + 1:
                self._wrong(node, f"the file has more than {LARGEST} values, aliases written out")
            return None
        if id(node) in self._open:
            return self._wrong(node, "contains itself through an alias; write the value out")
        self._open.add(id(node))
        try:
            if isinstance(node, MappingNode) and node.tag == f"{TAG}map":
                return self._mapping(node)
            if isinstance(node, SequenceNode) and node.tag == f"{TAG}seq":
                return [self.value(item) for item in node.value]
            if isinstance(node, ScalarNode):
                return self._scalar(node)
            return self._wrong(node, f"the tag {node.tag!r} is not supported; remove it")
        finally:
            self._open.discard(id(node))

    def _scalar(self, node: ScalarNode) -> Any:
        if node.tag in {f"{TAG}str", _MERGE}:
            return str(node.value)
        if node.tag not in _TYPES:
            return self._wrong(node, f"the tag {node.tag!r} is not supported; remove it")
        try:
            value = scalar(node.value)
        except ValueError:
            return self._wrong(node, "the number has too many digits; shorten or quote it")
        if type(value) not in _TYPES[node.tag]:
            kind = node.tag.removeprefix(TAG)
            return self._wrong(node, f"the value is no {kind}; remove the tag or fix the value")
        return value

    def _mapping(self, node: MappingNode) -> dict[str, Any]:
        own: dict[str, Any] = {}
        inherited: dict[str, Any] = {}
        lines: dict[str, int] = {}
        for key_node, value_node in node.value:
            if key_node.tag == _MERGE:
                inherited |= self._merged(value_node)
                continue
            key = self._key(key_node)
            value = self.value(value_node)
            if key is None:
                continue
            if key in own:
                first = f"{key!r} is given twice, first in line {lines[key]}"
                self._wrong(key_node, f"{first}; remove or rename one, components as `type/name`")
                continue
            own[key] = value
            lines[key] = key_node.start_mark.line + 1
        return {**inherited, **own}

    def _key(self, node: Node) -> str | None:
        if isinstance(node, ScalarNode) and node.tag == f"{TAG}str":
            return str(node.value)
        shown = f"the key {node.value!r}" if isinstance(node, ScalarNode) else "this key"
        self._wrong(node, f"{shown} is not text; put it in quotes")
        return None

    def _merged(self, node: Node) -> dict[str, Any]:
        """Return what ``<<`` takes over; of several mappings the first that has a key wins."""
        sources = node.value if isinstance(node, SequenceNode) else [node]
        merged: dict[str, Any] = {}
        for source in sources:
            value = self.value(source)
            if not isinstance(value, dict):
                self._wrong(source, "`<<` takes a mapping or a list of mappings")
                continue
            merged = {**value, **merged}
        return merged

    def _wrong(self, node: Node, message: str) -> Any:
        """Note a mistake and return what stands in its place."""
        mark = node.start_mark
        self.findings.add(f"{self._file}:{mark.line + 1}:{mark.column + 1}", message)
        return None
