"""Fuzz sealed files: whatever somebody writes into one, it opens to a state that its owner sealed, or not at all.

PYTHONPATH=tests:tests/assurance python -m fuzz.fuzz_sealed -max_total_time=60
"""

import base64
import json

import atheris

with atheris.instrument_imports():
    from sparkconfig.errors import SealedFileError
    from sparkconfig.sealed import crypto, document, opened
    from sparkconfig.sealed.document import Document, Header, decode, encode
    from sparkconfig.sealed.failures import WrongKeyError
    from sparkconfig.sealed.files import Stamp
    from sparkconfig.sealed.keys import EnvKey
    from sparkconfig.sealed.names import EntryName

from fuzz.start import fuzz
from fuzz.text import text_of

TOKENS = (
    *(
        "{",
        "}",
        "[",
        "]",
        ":",
        ",",
        '"',
        "\\",
        "\\u0000",
        "\\ud800",
        "null",
        "true",
        "1",
        "-1",
        "1e9",
        "1.0",
        "0",
    ),
    *(
        '"format"',
        '"sparkconfig-sealed"',
        '"version"',
        '"key"',
        '"id"',
        '"salt"',
        '"scrypt"',
        '"entries"',
        '"mac"',
    ),
    *('"n"', '"r"', '"p"', '"shop"', '"password"', "AAAA", "====", "16384", " ", "\n", "é", "\x00", "\ufeff"),
)
KEYS = [bytes([number]) * 32 for number in (1, 2)]
SOURCE = EnvKey("K", {"K": base64.b64encode(KEYS[0]).decode()})
STAMP = Stamp(0, 0, 0, 0, 0)
NAMES = [
    EntryName("shop", "password"),
    EntryName("shop", "user"),
    EntryName("", "alone"),
    EntryName("é", "a:b"),
]


def sealed(key: bytes, values: dict[EntryName, str], salt: bytes) -> bytes:
    header = Header(crypto.key_id(key), salt)
    keys = crypto.FileKeys(key, header)
    entries = {name: keys.seal(name, value) for name, value in values.items()}
    return encode(Document(header, entries, keys.mac(entries)))


SALT = bytes(range(16))
STATES = [
    dict(zip(NAMES, ["secret-value-1", "owner", "", "é\U0001d55c\n"], strict=True)),
    dict(zip(NAMES[:2], ["secret-value-0", "owner"], strict=True)),
    {},
]
FILES = [sealed(KEYS[0], state, SALT) for state in STATES]
FILES.append(sealed(KEYS[0], STATES[1], bytes(16)))  # another file of the same key
FILES.append(sealed(KEYS[1], STATES[0], SALT))
DOCUMENTS = [json.loads(raw) for raw in FILES]
BLOBS = [blob for each in DOCUMENTS for keys in each["entries"].values() for blob in keys.values()]


def spliced(data: atheris.FuzzedDataProvider) -> bytes:
    """A file made of parts of others, as somebody could who may write but has no key."""
    made = json.loads(FILES[0])
    for _ in range(data.ConsumeIntInRange(0, 4)):
        other = data.PickValueInList(DOCUMENTS)
        kind = data.ConsumeIntInRange(0, 6)
        if kind == 0:
            made["mac"] = other["mac"]
        elif kind == 1:
            made["key"] = dict(other["key"])
        elif kind == 2:
            made["entries"] = json.loads(json.dumps(other["entries"]))
        elif kind == 3 and made["entries"]:
            made["entries"].pop(data.PickValueInList(sorted(made["entries"])))
        elif kind == 4:
            name = data.PickValueInList(NAMES)
            made["entries"].setdefault(name.section, {})[name.key] = data.PickValueInList(BLOBS)
        elif kind == 5:
            name = data.PickValueInList(NAMES)
            raw = bytearray(base64.b64decode(data.PickValueInList(BLOBS)))
            raw[data.ConsumeIntInRange(0, len(raw) - 1)] ^= data.ConsumeIntInRange(0, 255)
            made["entries"].setdefault(name.section, {})[name.key] = base64.b64encode(raw).decode()
        else:
            made["key"]["id"] = crypto.key_id(data.PickValueInList(KEYS))
    return json.dumps(made, indent=data.ConsumeIntInRange(0, 2)).encode()


def damaged(data: atheris.FuzzedDataProvider) -> bytes:
    """A file with some bytes changed, cut or put in."""
    raw = bytearray(data.PickValueInList(FILES))
    for _ in range(data.ConsumeIntInRange(1, 4)):
        at = data.ConsumeIntInRange(0, len(raw))
        width = data.ConsumeIntInRange(0, 40)
        raw[at : at + width] = text_of(data.ConsumeBytes(width), TOKENS).encode()
    return bytes(raw)


def check(data: bytes) -> None:
    given = atheris.FuzzedDataProvider(data)
    kind = given.ConsumeIntInRange(0, 3)
    if kind == 0:
        raw = given.ConsumeBytes(len(data))
    elif kind == 1:
        raw = text_of(given.ConsumeBytes(len(data)), TOKENS).encode()
    else:
        raw = spliced(given) if kind == 2 else damaged(given)
    try:
        read = decode(raw)
    except SealedFileError as error:
        check_message(error)
        return
    assert decode(encode(read)) == read
    try:
        found = opened._opened(raw, STAMP, SOURCE)
    except WrongKeyError as error:
        assert read.header.key_id != crypto.key_id(KEYS[0]) or read.header.scrypt is not None
        check_message(error)
    except SealedFileError as error:
        check_message(error)
    else:
        values = {name: found.value(name) for name in found.names()}
        assert values in STATES, sorted(map(str, values))


def check_message(error: SealedFileError) -> None:
    text = str(error)
    assert error.__cause__ is None
    assert text.isprintable(), ascii(text)
    assert len(text) < 4000
    assert "secret-value" not in text


if __name__ == "__main__":
    assert document.VERSION == 1
    fuzz(check)
