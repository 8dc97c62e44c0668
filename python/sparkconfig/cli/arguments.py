"""The parser of every command: it never repeats what was typed, since a secret may be in the wrong place.

argparse quotes the word that it does not understand. Here a message names the options, commands and choices that
there are, and the position of the word, so that logs and screens stay free of a password given as an argument.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from sparkconfig._base.gone import GONE
from sparkconfig._base.text import nearest

__all__ = ["Parser", "UsageError"]

# What argparse says with names of options and arguments alone. Anything else may quote a word.
_HARMLESS = re.compile(
    r"(argument [^:]*: )?(expected (one argument|at most one argument|at least one argument|\d+ arguments?)"
    r"|not allowed with argument [^:]*)"
    r"|the following arguments are required: .*|one of the arguments .* is required"
)
_COMMANDS = argparse._SubParsersAction  # noqa: SLF001 - argparse has no public name
_ARGUMENT = re.compile(r"argument [^:]*: ")


class UsageError(Exception):
    """The command line is wrong. The text repeats no word of it.

    Attributes:
        usage: how the command is written.
    """

    def __init__(self, message: str, usage: str) -> None:
        super().__init__(message)
        self.usage = usage


class _Help(argparse.RawDescriptionHelpFormatter):
    """Examples as they are written, and the rest as wide as the terminal."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        if "\n" in text:
            return super()._fill_text(text, width, indent)
        return argparse.HelpFormatter._fill_text(self, text, width, indent)  # noqa: SLF001 - past our own base

    def add_argument(self, action: argparse.Action) -> None:
        super().add_argument(action)
        if isinstance(action, _COMMANDS):  # argparse forgets that commands are indented
            self._action_max_length += self._indent_increment


class Parser(argparse.ArgumentParser):
    """An ArgumentParser that raises :class:`UsageError` and knows no abbreviations."""

    def __init__(self, **options: Any) -> None:  # noqa: ANN401 - argparse's own
        options.setdefault("allow_abbrev", False)
        options.setdefault("formatter_class", _Help)
        super().__init__(**options)
        self.set_defaults(parser=self)  # of a command and its subcommand, the latter counts
        self._words: Sequence[str] = ()

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:  # noqa: ANN401
        """Parse what is known, as argparse does; a command's own words pass here too."""
        self._words = tuple(sys.argv[1:] if args is None else args)
        return super().parse_known_args(self._words, namespace)

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:  # noqa: ANN401
        """Parse all words.

        Raises:
            UsageError: a word is not understood, or one is missing.
        """
        options, unknown = self.parse_known_args(args, namespace)
        parser: Parser = options.parser
        if unknown:
            parser.reject(next((word for word in unknown if word != "--"), "--"), self._words)
        if not hasattr(options, "run"):
            parser.refuse(f"a command is missing; '{parser.prog} --help' lists them")
        return options

    def reject(self, word: str, words: Sequence[str]) -> NoReturn:
        """Refuse a word that fits nowhere.

        Raises:
            UsageError: always.
        """
        self._refuse_gone()
        place = _place(word, words)
        if word.startswith("-") and len(word) > 1:
            near = self._near_option(word)
            hint = f"did you mean {near}?" if near else f"'{self.prog} --help' lists the options"
            self.refuse(f"{place} is an unknown option; {hint}")
        more = " (no command takes a value on its command line)" if "seal" in self.prog else ""
        self.refuse(f"{place} does not belong here{more}; '{self.prog} --help' shows the arguments")

    def error(self, message: str) -> NoReturn:
        """Take argparse's message if it quotes nothing."""
        self._refuse_gone()
        if _HARMLESS.fullmatch(message) is None:
            found = _ARGUMENT.match(message)
            known = f"{found[0]}it does not take this value" if found else "the command line is wrong"
            message = f"{known}; '{self.prog} --help' shows the arguments"
        elif "required" in message:  # perhaps it is there, misspelt
            near = [each for word in self._words if (each := self._near_option(word)) and each in message]
            message += f"; is {near[0]} misspelt?" if near else ""
        self.refuse(message)

    def _refuse_gone(self) -> None:
        for name in (word.partition("=")[0] for word in self._words):
            if name in GONE and name not in self._option_string_actions:
                self.refuse(f"{name} is gone: {GONE[name]}")

    def _near_option(self, word: str) -> str:
        name = word.partition("=")[0]
        known = self._option_string_actions
        return "" if name in known or not name.startswith("-") else nearest(name, known)

    def refuse(self, message: str) -> NoReturn:
        """Refuse the command line.

        Args:
            message: what is wrong and what to do; it must not repeat a word of it.

        Raises:
            UsageError: always.
        """
        raise UsageError(message, self.format_usage())

    def _check_value(self, action: argparse.Action, value: Any) -> None:  # noqa: ANN401 - argparse's own
        """Name the choices, and the nearest one."""
        choices = None if action.choices is None else [str(choice) for choice in action.choices]
        if choices is None or value in choices:
            return
        name = "/".join(action.option_strings)
        name = name or ("" if isinstance(action, _COMMANDS) else action.dest)
        what = f"argument {name}: this value is unknown" if name else "this command is unknown"
        if not name and (advice := GONE.get(f"command {value}")):
            self.refuse(f"this command is gone: {advice}")
        near = nearest(str(value), choices)
        hint = f"did you mean '{near}'?" if near else f"there are: {', '.join(choices)}"
        self.refuse(f"{what}; {hint}")


def _place(word: str, words: Sequence[str]) -> str:
    same = [index for index, each in enumerate(words, 1) if each is word]
    same = same or [index for index, each in enumerate(words, 1) if each == word]
    return f"argument {same[0]}" if same else "an argument"
