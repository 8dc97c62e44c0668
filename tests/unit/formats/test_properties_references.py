"""Properties of the scanner and the transformer, on random texts."""

from __future__ import annotations

import re
from collections.abc import Set

from hypothesis import example, given
from hypothesis import strategies as st

from sparkconfig import ConfigData, ConfigProvider, ConfigTransformer
from sparkconfig.formats import properties

# Kafka's own expression; on short texts its cost does not matter. An independent, slow model.
KAFKA = re.compile(r"\$\{([^}]*?):(([^}]*?):)?([^}]*?)\}")

TOKENS = st.sampled_from([*"}:${pkt\\ \n\u2028\0\ud800é", "${", "${p:k}", "${p:a:k}"])
TEXTS = st.one_of(st.text(max_size=60), st.lists(TOKENS, max_size=30).map("".join))


class _Upper(ConfigProvider):
    """Every key exists, and its value looks like a reference itself."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, frozenset[str]]] = []

    def get(self, path: str, keys: Set[str] | None = None) -> ConfigData:
        self.asked.append((path, frozenset(keys or ())))
        return ConfigData({key: f"<${{p:{path}:{key}}}>" for key in keys or ()})


@given(TEXTS.filter(lambda text: KAFKA.search(text) is None))
def test_transform_is_the_identity_on_text_without_references(text: str) -> None:
    result = ConfigTransformer({"p": _Upper()}, unresolved="fail").transform({"key": text})
    assert result.data == {"key": text}


@given(TEXTS)
def test_values_are_never_scanned_and_each_path_is_asked_once(text: str) -> None:
    provider = _Upper()
    result = ConfigTransformer({"p": provider, "t": provider}).transform({"a": text, "b": text})
    model = KAFKA.sub(lambda m: f"<${{p:{m[3] or ''}:{m[4]}}}>" if m[1] in ("p", "t") else m[0], text)
    assert result.reveal() == {"a": model, "b": model}
    wanted: dict[tuple[str, str], set[str]] = {}
    for match in KAFKA.finditer(text):
        if match[1] in ("p", "t"):
            wanted.setdefault((match[1], match[3] or ""), set()).add(match[4])
    assert sorted(provider.asked, key=repr) == sorted(
        ((path, frozenset(keys)) for (_, path), keys in wanted.items()), key=repr
    )


@given(st.dictionaries(st.text(), st.text()))
@example({"": "", " a:=#!\\": " \t\f#b\r\n\\", "\ud83c": "\udf89", "é🎉": "\u2028"})
def test_properties_round_trip(values: dict[str, str]) -> None:
    assert properties.loads(properties.dump(values)) == values


@given(st.binary(max_size=200))
def test_properties_are_read_or_refused(content: bytes) -> None:
    refused = False
    found: dict[str, str] = {}
    try:
        found = properties.load(content)
    except properties.FormatError:
        refused = True
    escapes = re.search(rb"\\u(?![0-9a-fA-F]{4})", content) is not None
    assert refused <= (escapes or content.decode("utf-8", "replace").encode() != content)
    assert all(isinstance(key, str) and isinstance(value, str) for key, value in found.items())


@given(st.text(alphabet=st.sampled_from("ab=: \t\f\n\r#!\x0b\x1c\x85é"), max_size=60))
@example(" \t\n  # c\n! c\n=v\nk\nk : = v \n:\nb=1\nb=2")
def test_a_text_without_backslashes_is_read_as_one_with(text: str) -> None:
    # The first line takes the way of texts that have escapes.
    escaped = properties.loads("last\\u0041=1\n" + text)
    assert escaped == {"lastA": "1"} | properties.loads(text)
    assert list(escaped)[1:] == list(properties.loads(text))
