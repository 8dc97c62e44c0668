"""Policies as docs/policies.md describes them, for simple rules: slow, and without indexes, caches or positions."""

from __future__ import annotations

import itertools
import json
import re

COMMENT_OR_TEXT = re.compile(r'("(?:\\.|[^"\\\n])*")|//[^\n]*|/\*[\s\S]*?\*/')


class RepeatedNameError(Exception):
    """An object has a name twice."""


def without_comments(text):
    """Comments become blanks of the same length and lines."""
    return COMMENT_OR_TEXT.sub(lambda found: found[1] or re.sub(r"[^\n]", " ", found[0]), text)


def parse(text):
    """The content of a JSON document; raises ValueError or RepeatedNameError."""

    def members(pairs):
        if len({name for name, _ in pairs}) < len(pairs):
            raise RepeatedNameError
        return dict(pairs)

    def refuse(word):
        raise ValueError(word)

    return json.loads(without_comments(text), object_pairs_hook=members, parse_constant=refuse)


def lines(text):
    """The line of each member's name and of each item of a list, of a JSON text with comments that is valid."""
    found = {}
    _value(_Reader(without_comments(text)), (), found)
    return found


class _Reader:
    def __init__(self, text):
        self.text, self.at = text, 0

    def blank(self):
        while self.at < len(self.text) and self.text[self.at] in " \t\r\n":
            self.at += 1

    def line(self):
        return self.text.count("\n", 0, self.at) + 1

    def scalar(self):
        value, width = json.JSONDecoder().raw_decode(self.text[self.at :])
        self.at += width
        return value


def _value(reader, path, found):
    reader.blank()
    found.setdefault(path, reader.line())
    first = reader.text[reader.at]
    if first not in "{[":
        reader.scalar()
        return
    reader.at += 1
    for index in itertools.count():
        reader.blank()
        if reader.text[reader.at] in "}]":
            reader.at += 1
            return
        if reader.text[reader.at] == ",":
            reader.at += 1
            reader.blank()
        name = index
        if first == "{":
            line = reader.line()
            name = reader.scalar()
            found[(*path, name)] = line
            reader.blank()
            reader.at += 1  # the colon
        _value(reader, (*path, name), found)


def fits(pattern, name):
    """Whether a name fits a pattern, whatever the case."""
    parts = map(re.escape, pattern.lower().split("*"))
    return re.fullmatch("[\\s\\S]*".join(parts), name.lower()) is not None


def allowed(rules, job_type, scope, name, value):
    """Whether all of the most specific rules about ``name`` allow ``value``; None: no rule is about it.

    Rules are the elements of a document, of the types fixed, forbidden, unlimited, allowlist and blocklist, about keys
    that Spark does not know, with texts that are not numbers.
    """
    about = []
    for rule in rules:
        key = rule["key"]
        if "jobTypes" in rule and job_type not in rule["jobTypes"]:
            continue
        if "scopes" in rule:
            if scope not in rule["scopes"]:
                continue
        elif scope in ("source", "sink") and key.startswith("*"):
            continue
        if fits(key, name):
            rank = ("*" not in key, len(key.replace("*", "")), "jobTypes" in rule, "scopes" in rule)
            about.append((rank, rule))
    exact = [each for each in about if each[0][0]]
    about = exact or about
    if not about:
        return None
    best = max(rank for rank, _ in about)
    return all(_holds(rule, value) for rank, rule in about if rank == best)


def _holds(rule, value):
    kind = rule["type"]
    if value is None:
        required = rule.get("isOptional") is False and "defaultValue" not in rule and "*" not in rule["key"]
        return not (kind == "fixed" and "*" not in rule["key"]) and not required
    plain = value.strip()
    if kind == "forbidden":
        return False
    if kind == "fixed":
        return _same(plain, rule["value"])
    if kind == "allowlist":
        return any(_same(plain, each) for each in rule["values"])
    if kind == "blocklist":
        return plain.lower() not in [each.strip().lower() for each in rule["values"]] and "${" not in value
    return True


def _same(plain, allowed_value):
    other = allowed_value.strip()
    return plain == other or (other.lower() in ("true", "false") and plain.lower() == other.lower())
