"""Fuzz Java properties: the reader agrees with Java's own class and with a slow model, and reads what it writes.

PYTHONPATH=tests:tests/assurance python -m fuzz.fuzz_properties -max_total_time=60
"""

import atheris

with atheris.instrument_imports():
    from sparkconfig.formats import properties
    from sparkconfig.formats.errors import FormatError

from fuzz import properties_model
from fuzz.jvm import Jvm
from fuzz.start import fuzz
from fuzz.text import text_of

TOKENS = (
    *(
        "\\",
        "\\\\",
        "\n",
        "\r",
        "\r\n",
        "\\\n",
        "\\\r\n",
        "=",
        ":",
        " ",
        "\t",
        "\f",
        "#",
        "!",
        "\\u",
        "\\u00e4",
    ),
    *(
        "\\ud835",
        "\\udd5c",
        "\\t",
        "\\n",
        "\\=",
        "a",
        "b",
        "key",
        "0",
        "\u0085",
        "\u2028",
        "\x0b",
        "\xa0",
        "é",
    ),
    *("\U0001d55c", "\x00", "${p:k}", "\\uuuu0041", "\\u004", "\ufeff"),
)


def units(text):
    return text.encode("utf-16-be", "surrogatepass")


def read(text):
    try:
        return properties.loads(text)
    except FormatError:
        return None


def check_with(jvm):
    def check(data: bytes) -> None:
        text = text_of(data, TOKENS)
        found = read(text)
        model = properties_model.properties(text)
        java = jvm.properties(text)
        assert (found is None) == (model is None) == (java is None), ascii(text)
        if found is not None:
            ours = {units(key): units(value) for key, value in found.items()}
            assert ours == {units(key): units(value) for key, value in model.items()}, ascii(text)
            assert ours == {units(key): units(value) for key, value in java.items()}, ascii(text)
            assert properties.loads(properties.dump(found)) == found, ascii(text)
        try:
            loaded = properties.load(data)
        except FormatError:
            pass
        else:
            assert loaded == read(data.decode("utf-8"))

    return check


if __name__ == "__main__":
    fuzz(check_with(Jvm()))
