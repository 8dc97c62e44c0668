"""Texts that only stand in for a value: masks, and what a template, a shell or another tool fills in."""

from __future__ import annotations

import re

from sparkconfig.settings.expressions import REPLACED, VARIABLE

__all__ = ["ONLY_ON_DATABRICKS", "has_template", "is_databricks_secret", "is_placeholder", "unfilled"]

ONLY_ON_DATABRICKS = (
    "{{secrets/...}} is Databricks' own syntax, and nothing outside of a Databricks cluster's confs expands it;"
    " write a reference"
)
_NAME = r"[A-Za-z_][\w.-]{0,100}"
_MASK = re.compile(rf"[{REPLACED}{VARIABLE}]+|[*x.#-]{{3,200}}|\*+\(redacted.*", re.IGNORECASE | re.DOTALL)
# Of shells, Kubernetes and Make. In small letters with a single sign it may be a password.
_VARIABLE = re.compile(
    r"\$\{(?P<braces>(?:env\.)?[A-Za-z_]\w{0,100})\}|\$\((?P<round>[A-Za-z_]\w{0,100})\)|\$(?P<bare>[A-Z_][A-Z0-9_]{1,100})"
)
_DATABRICKS = re.compile(r"\{\{\s*secrets/[^{}]*\}\}")
_TEMPLATE = re.compile(
    rf"<[^<>]*>|<%.*%>"  # prose, ERB
    rf"|\{{\{{.*\}}\}}|\{{%.*%\}}|\$\{{\{{.*\}}\}}"  # Jinja, Helm, GitHub's workflows
    rf"|%\({_NAME}\)s|%{{1,2}}{_NAME}%{{1,2}}"  # Python, Windows and sed
    rf"|@{{1,2}}{_NAME}@{{1,2}}|#\{{{_NAME}\}}#?|__{_NAME}__"  # Maven, Octopus and Azure, sed
    rf"|\(\([\w./-]{{1,200}}\)\)|\[\[[\w./ -]{{1,200}}\]\]|\[\w+\]|~{{1,2}}{_NAME}~{{1,2}}",  # Concourse and others
    re.DOTALL,
)


def is_placeholder(value: str) -> bool:
    """Whether ``value`` only stands in for a secret: never one to seal, and never one in clear."""
    text = _unquoted(value)
    return any(each.fullmatch(text) for each in (_MASK, _VARIABLE, _DATABRICKS, _TEMPLATE))


def has_template(value: str) -> bool:
    """Whether a template fills in a part of ``value``: what stands beside that part is not the whole value."""
    return re.search(r"\{\{|\{%|<%", value) is not None


def is_databricks_secret(value: str) -> bool:
    """Whether ``value`` is, or has in it, a ``{{secrets/SCOPE/KEY}}`` that only Databricks expands."""
    return _DATABRICKS.search(value) is not None


def unfilled(value: str) -> str | None:
    """What is wrong with a secret's conf that holds a placeholder, and what to write; None: it holds none.

    Masks are left out: they come from what has been shown, and are no mistake of who writes confs.
    """
    text = _unquoted(value)
    if found := _VARIABLE.fullmatch(text):
        name = (found["braces"] or found["round"] or found["bare"]).removeprefix("env.")
        return f"nothing expands {text}: write ${{envvar:{name}}}, or the reference of your provider"
    if _DATABRICKS.fullmatch(text):
        return ONLY_ON_DATABRICKS
    if _TEMPLATE.fullmatch(text):
        return "a placeholder stands here that nothing has filled in; write a reference, or fill it in"
    return None


def _unquoted(value: str) -> str:
    text = value.strip()
    return text[1:-1].strip() if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text
