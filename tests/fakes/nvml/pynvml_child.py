"""Runs lines of Python against the real pynvml and answers each with one line of JSON.

A line is an expression, or `name <- expression`, in a namespace that holds all of pynvml. The
answer is {"value": ...} or {"error": "<exception's name>"}; structures become objects.
"""

import ctypes
import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pynvml


def plain(value: Any) -> Any:
    """The value in JSON's types."""
    if isinstance(value, bytes):
        return list(value)
    if isinstance(value, (list, tuple, ctypes.Array)):
        return [plain(item) for item in value]
    if isinstance(value, (ctypes.Structure, ctypes.Union)):
        return {field[0]: plain(getattr(value, field[0])) for field in value._fields_}
    if isinstance(value, (int, float, str, dict, type(None))):
        return value
    # Handles and other pointers only have to survive in the namespace.
    return type(value).__name__


def answer(line: str, namespace: dict[str, Any]) -> dict[str, Any]:
    """Runs one line."""
    try:
        name, assigns, expression = line.partition(" <- ")
        value = eval(expression if assigns else line, namespace)
    except Exception as error:  # noqa: BLE001  # the test judges every outcome
        return {"error": type(error).__name__, "words": str(error)}
    if assigns:
        namespace[name] = value
    return {"value": plain(value)}


def main() -> None:
    """Serves until the end of the input."""
    namespace: dict[str, Any] = dict(vars(pynvml))
    namespace |= {"time": time, "ThreadPoolExecutor": ThreadPoolExecutor}
    for line in sys.stdin:
        sys.stdout.write(json.dumps(answer(line.strip(), namespace)) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
