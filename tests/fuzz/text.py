"""Fuzzer bytes to text in which the languages' own signs are frequent."""

TOKENS = (
    *(
        "$[",
        "$[[",
        "$[[[[[[",
        "[",
        "]",
        "]]",
        "$",
        "${",
        "{",
        "}",
        ":",
        "::",
        "=",
        "/=",
        "|=",
        "/",
        "|",
        "\\",
    ),
    *("$[]", "keyValue", "sysProp", "envVar", "file", "echo", "helped", "redact", "notEmpty", "notBlank"),
    *("fromValueOfKey", "defaultValue=", "defaultKey=", "a", "b", "c", "p", " ", "\t", "\n", "\r", "\u2028"),
    *("\x00", "\ud800", "é", "\u00a0", "🎉"),
)


def text_of(data: bytes) -> str:
    """One byte is one token, or one character."""
    return "".join(TOKENS[byte] if byte < len(TOKENS) else chr(byte) for byte in data)
