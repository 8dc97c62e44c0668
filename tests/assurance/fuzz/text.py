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


def text_of(data: bytes, tokens: tuple[str, ...] = TOKENS) -> str:
    """One byte is one token, or one character."""
    return "".join(tokens[byte] if byte < len(tokens) else chr(byte) for byte in data)
