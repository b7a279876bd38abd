from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otelgpu.config.document import Document, FactoryLookup, parse
from otelgpu.config.mistake import ConfigError

Read = Callable[..., Document]
ENVIRON = {"HOST": "gw", "TOKEN": "hunter2"}


def collect(read: Read, text: str, environ: Mapping[str, str] = ENVIRON) -> list[tuple[str, str]]:
    with pytest.raises(ConfigError) as raised:
        read(text, environ)
    return [(m.path, m.message) for m in raised.value.mistakes]


ALL_SECTIONS = "exporters, extensions, processors, receivers, service"
SIGNALS = "`metrics`, `metrics/name`, `events`, `events/name`"
MAPPING = "write `key: value` lines"
ID = "write `type` or `type/name`, the type in lower_snake_case"
REPLACEMENTS = [
    (
        "processors:\n",
        "procesors:\n",
        [
            (
                "procesors",
                f"unknown section 'procesors'; did you mean 'processors'? Known: {ALL_SECTIONS}",
            ),
            (
                "service::pipelines::metrics::processors::0",
                (
                    "unknown component 'filter'; remove it or choose a known one. None is known;"
                    " declare it under `processors:`"
                ),
            ),
        ],
    ),
    (
        "  shutdown_timeout:",
        "  shutdown_timout:",
        [
            (
                "service::shutdown_timout",
                (
                    "unknown setting 'shutdown_timout'; did you mean 'shutdown_timeout'?"
                    " Known: extensions, pipelines, shutdown_timeout, telemetry"
                ),
            )
        ],
    ),
    (
        "level: warn",
        "level: loud",
        [
            (
                "service::telemetry::logs::level",
                "expected one of 'debug', 'info', 'warn', 'error'; got 'loud'",
            )
        ],
    ),
    (
        "cluster: a",
        "cluster: [a]",
        [
            (
                "service::telemetry::resource::cluster",
                "expected one of: text, a whole number, a number, true or false; got a list",
            )
        ],
    ),
    (
        "extensions:\n  status:",
        "extensions: [status]",
        [
            ("extensions", "expected a mapping, got a list; write one component a line, as `id:`"),
            (
                "service::extensions::0",
                (
                    "unknown component 'status'; remove it or choose a known one. None is known;"
                    " declare it under `extensions:`"
                ),
            ),
        ],
    ),
    (
        "extensions: [status]",
        "extensions: [status, statu, status]",
        [
            (
                "service::extensions::1",
                (
                    "unknown component 'statu'; did you mean 'status'? Known: status;"
                    " declare it under `extensions:`"
                ),
            ),
            ("service::extensions::2", "'status' is named twice; remove one"),
        ],
    ),
    (
        "extensions: [status]",
        "extensions: status",
        [("service::extensions", "expected a list, got text; write [a, b] or - lines")],
    ),
    *(
        (
            "  filter:\n",
            f"  filter:\n  {id_}:\n",
            [(f"processors::{id_}", f"{id_!r} is no id of a component; {ID}")],
        )
        for id_ in ("Filter", "my-filter", "filter/", "filter/a/b", "filter/a b", "_filter", "/a")
    ),
    (
        "  nvml:\n",
        "  nvml:\n  nvlm/two: {a: 1}\n",
        [
            (
                "receivers::nvlm/two",
                "unknown type of receivers 'nvlm'; did you mean 'nvml'? Known: amdsmi, nvml",
            )
        ],
    ),
    (
        "  nvml:\n",
        "  nvml:\n  broken:\n",
        [
            (
                "receivers::broken",
                "'broken' cannot be loaded: no module named 'kubernetes'; install otelgpu[k8s]",
            )
        ],
    ),
    (
        "  nvml:\n",
        "  nvml: {colection_interval: 1s, count: 0}\n",
        [
            (
                "receivers::nvml::colection_interval",
                (
                    "unknown setting 'colection_interval'; did you mean 'collection_interval'?"
                    " Known: collection_interval, count"
                ),
            ),
            ("receivers::nvml::count", "'count' must be >= 1: 0"),
        ],
    ),
    (
        "  nvml:\n",
        "  nvml: 5\n",
        [("receivers::nvml", f"expected a mapping, got a number; {MAPPING}")],
    ),
    (
        "  debug:\n",
        "  debug: [hunter2]\n",
        [("exporters::debug", f"expected a mapping, got a list; {MAPPING}")],
    ),
    (
        "plain: hunter2",
        "plain: [hunter2]",
        [("exporters::otlp/main::headers::plain", "expected text, got a list")],
    ),
    (
        "${env:HOST}",
        "${env:GONE}",
        [
            (
                "exporters::otlp/main::endpoint",
                "the environment variable GONE is not set; set it or write ${env:GONE:-default}",
            )
        ],
    ),
    (
        "[nvml, nvml/slow]",
        "[nvml, nvml/slo, nvml]",
        [
            (
                "service::pipelines::metrics::receivers::1",
                (
                    "unknown component 'nvml/slo'; did you mean 'nvml/slow'?"
                    " Known: nvml, nvml/slow; declare it under `receivers:`"
                ),
            ),
            ("service::pipelines::metrics::receivers::2", "'nvml' is named twice; remove one"),
        ],
    ),
    (
        "{receivers: [nvml], exporters: [otlp/main]}",
        "{receivers: [], processors: []}",
        [
            (
                "service::pipelines::events/faults::receivers",
                "is empty; name at least one of receivers",
            ),
            (
                "service::pipelines::events/faults::exporters",
                "is empty; name at least one of exporters",
            ),
        ],
    ),
    (
        "{receivers: [nvml], exporters: [otlp/main]}",
        "",
        [
            (
                "service::pipelines::events/faults::receivers",
                "is empty; name at least one of receivers",
            ),
            (
                "service::pipelines::events/faults::exporters",
                "is empty; name at least one of exporters",
            ),
        ],
    ),
    (
        "{receivers: [nvml], exporters: [otlp/main]}",
        "{receivers: nvml, exporters: [otlp/main, gone]}",
        [
            (
                "service::pipelines::events/faults::receivers",
                "expected a list, got text; write [a, b] or - lines",
            ),
            (
                "service::pipelines::events/faults::exporters::1",
                (
                    "unknown component 'gone'; remove it or choose a known one."
                    " Known: debug, otlp/main; declare it under `exporters:`"
                ),
            ),
        ],
    ),
    (
        "{receivers: [nvml], exporters: [otlp/main]}",
        "{receivers: [nvml], exporters: [otlp/main, debug]}",
        [
            (
                "service::pipelines::events/faults::exporters::1",
                "'debug' does not carry events, only metrics; name it in a pipeline of those",
            )
        ],
    ),
    (
        "events/faults",
        "event/faults",
        [
            (
                "service::pipelines::event/faults",
                (
                    "unknown signal 'event'; did you mean 'events'? Known: events, metrics;"
                    f" write one of {SIGNALS}"
                ),
            )
        ],
    ),
    *(
        (
            "events/faults",
            id_,
            [
                (
                    f"service::pipelines::{id_}",
                    f"{id_!r} is no id of a pipeline; write one of {SIGNALS}",
                )
            ],
        )
        for id_ in ("events/", "events/a/b", "events/a b")
    ),
]


@pytest.mark.parametrize(("old", "new", "mistakes"), REPLACEMENTS)
def test_mistakes_of_a_kind(
    old: str, new: str, mistakes: list[tuple[str, str]], good: str, read: Read
) -> None:
    assert old in good
    assert collect(read, good.replace(old, new, 1)) == mistakes


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("{}", ["receivers", "exporters", "service"]),
        ("{receivers: , exporters: {}, service: }", ["receivers", "exporters", "service"]),
        ("{receivers: {nvml: }, exporters: {debug: }}", ["service"]),
        (
            "{receivers: {nvml: }, exporters: {debug: }, service: {extensions: []}}",
            ["service::pipelines"],
        ),
        (
            "{receivers: {nvml: }, exporters: {debug: }, service: {pipelines: {}}}",
            ["service::pipelines"],
        ),
        (
            "{receivers: {nvml: }, exporters: {debug: }, service: {pipelines: [metrics]}}",
            ["service::pipelines"],
        ),
        ("{receivers: {nvml: }, exporters: {debug: }, service: on}", ["service"]),
        (
            "{receivers: {nvml: }, exporters: {debug: }, service: {pipelines: {metrics: nvml}}}",
            ["service::pipelines::metrics"],
        ),
    ],
)
def test_missing_and_wrong_sections(text: str, paths: list[str], read: Read) -> None:
    assert [path for path, _ in collect(read, text)] == paths


def test_mistakes_everywhere_are_found_at_once(good: str, read: Read) -> None:
    text = good
    for old, new in (
        ("${env:HOST}", "${env:GONE}"),
        ("{collection_interval: 1m}", "{collection_interval: 1}"),
        ("level: warn", "level: 5"),
        ("extensions: [status]", "extensions: [gone]"),
        ("receivers: [nvml], exporters: [otlp/main]", "receivers: [gone], exporters: [debug]"),
        ("\nprocessors:", "\nextra: 1\nprocessors:"),
    ):
        assert old in text
        text = text.replace(old, new)
    assert [path for path, _ in collect(read, text)] == [
        "exporters::otlp/main::endpoint",
        "extra",
        "receivers::nvml/slow::collection_interval",
        "service::telemetry::logs::level",
        "service::pipelines::events/faults::receivers::0",
        "service::pipelines::events/faults::exporters::0",
        "service::extensions::0",
    ]


TWO = """
receivers: {amdsmi: , amdsmi/spare: , amdsmi/unused: , nvml: , nvml/more: }
exporters: {debug: }
service:
  pipelines:
    metrics: {receivers: [amdsmi, nvml, nvml/more], exporters: [debug]}
    metrics/b: {receivers: [amdsmi/spare], exporters: [debug]}
"""


def test_two_receivers_of_one_library(read: Read) -> None:
    assert collect(read, TWO) == [
        (
            "receivers::amdsmi/spare",
            (
                "an agent can use one receiver of type amdsmi, and 'amdsmi' is another;"
                " name one of them in all pipelines"
            ),
        )
    ]
    once = TWO.replace("[amdsmi/spare]", "[nvml]")
    unused = [w.path for w in read(once).warnings if "is not used" in w.message]
    assert unused == ["receivers::amdsmi/spare", "receivers::amdsmi/unused"], "they do no harm"


def test_standard_variables_that_are_wrong(good: str, read: Read) -> None:
    assert collect(read, good, {**ENVIRON, "BAD": "1"}) == [
        ("exporters::otlp/main", "BAD is set; unset it")
    ]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text("${env:}nvml/ "),
    lambda inner: st.lists(inner) | st.dictionaries(st.text("nvml/_ "), inner),
    max_leaves=8,
)
NAMES = st.sampled_from(["receivers", "exporters", "extensions", "service", "other"])
DETAILS = st.sampled_from(["nvml", "debug", "otlp", "pipelines", "telemetry", "extensions"])


@given(raw=st.dictionaries(NAMES, JSON | st.dictionaries(DETAILS, JSON)))
def test_anything_is_a_document_or_has_mistakes(
    installed: FactoryLookup, raw: dict[str, Any]
) -> None:
    with pytest.raises(ConfigError) as raised:
        parse(raw, installed, {})
    assert raised.value.mistakes
    assert all(mistake.path and mistake.message for mistake in raised.value.mistakes)
