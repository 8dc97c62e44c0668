"""A properties file that a program writes and people edit, beside a dict and a slow reader."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from fuzz.properties_model import properties as model
from sparkconfig.formats import properties
from support.machines import limits

TEXTS = st.text(st.sampled_from([*"ab\\ =:#!\t\n\r\fé\x00\x7f\u0085\u2028\U0001d55c"]), max_size=6)
BLANKS = st.text(st.sampled_from(" \t\f"), max_size=2)
ENDS = st.sampled_from(["\n", "\r", "\r\n"])


def units(text: str) -> bytes:
    return text.encode("utf-16-be", "surrogatepass")


class PropertiesFile(RuleBasedStateMachine):
    """Each step adds to the end of the file; the last of equal keys wins."""

    def __init__(self) -> None:
        super().__init__()
        self.text = ""
        self.values: dict[str, str] = {}

    @rule(key=TEXTS, value=TEXTS)
    def write(self, key: str, value: str) -> None:
        """As `dump` writes it."""
        self.text += properties.dump({key: value})
        self.values[key] = value

    @rule(key=st.sampled_from(["a", "b.c", "é"]), value=st.sampled_from(["", "x", "x y ", "${p:k}"]), before=BLANKS,
          between=st.sampled_from(["=", ":", " = ", " : ", "\t=\f"]), end=ENDS)  # fmt: skip
    def edit(self, key: str, value: str, before: str, between: str, end: str) -> None:
        """As people write it."""
        self.text += f"{before}{key}{between}{value}{end}"
        self.values[key] = value

    @rule(key=st.sampled_from(["a", "b"]), parts=st.lists(st.sampled_from(["x", "y z", ""]), min_size=2, max_size=4),
          blanks=BLANKS, end=ENDS)  # fmt: skip
    def edit_over_lines(self, key: str, parts: list[str], blanks: str, end: str) -> None:
        self.text += f"{key}={f'{chr(92)}{end}{blanks}'.join(parts)}{end}"
        # Blanks at the beginning of the whole value are not part of it, and neither are those of a line.
        self.values[key] = "".join(parts)

    @rule(comment=st.sampled_from(["#", "!", "# a=1", "#\\"]), before=BLANKS, end=ENDS)
    def comment(self, comment: str, before: str, end: str) -> None:
        self.text += f"{before}{comment}{end}"

    @rule(blanks=BLANKS, end=ENDS)
    def blank_line(self, blanks: str, end: str) -> None:
        self.text += f"{blanks}{end}"

    @invariant()
    def reads_what_was_written(self) -> None:
        found = properties.loads(self.text)
        assert found == self.values
        slow = model(self.text)
        assert slow is not None
        assert {units(key): units(value) for key, value in found.items()} == {
            units(key): units(value) for key, value in slow.items()
        }


TestPropertiesFile = PropertiesFile.TestCase
TestPropertiesFile.settings = limits(20)
