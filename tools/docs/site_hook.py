"""For mkdocs: links to files outside of docs lead to the repository; the schema of policies is a file of the site."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

_SCHEMA = "conf/policies/policy.schema.json"
_OUTSIDE = re.compile(r"\]\((?:\.\./)+(?!\.\.)")
#: What GitHub shows and a site does not.
_EXAMPLES = re.compile(r"\]\((examples/[^)]*)\)")


def on_config(config: Any) -> Any:  # noqa: ANN401 - mkdocs' own
    """Return the configuration with the repository that pyproject.toml names."""
    project = (Path(config["config_file_path"]).parent / "pyproject.toml").read_text(encoding="utf-8")
    config["repo_url"] = re.findall(r'^Repository = "(.+)"$', project, re.MULTILINE)[0]
    config["repo_name"] = "GitHub"
    return config


def on_files(files: Any, *, config: Any) -> Any:  # noqa: ANN401 - mkdocs' own
    """Return the files of the site with the schema of policies, for editors."""
    from mkdocs.structure.files import File

    root = Path(config["config_file_path"]).parent
    name = Path(_SCHEMA).name
    files.append(File.generated(config, name, content=(root / _SCHEMA).read_text(encoding="utf-8")))
    return files


def on_page_markdown(markdown: str, *, page: Any, config: Any, files: Any) -> str:  # noqa: ANN401 - mkdocs' own
    """Return the page's text with these links replaced."""
    del files
    depth = page.file.src_uri.count("/")
    blob = f"{config['repo_url']}/blob/main/"

    def outside(found: re.Match[str]) -> str:
        ups = found[0].count("../")
        return f"]({blob}" if ups > depth else found[0]

    if not depth:
        markdown = markdown.replace(f"](../{_SCHEMA})", f"]({Path(_SCHEMA).name})")
    markdown = _OUTSIDE.sub(outside, markdown)
    markdown = markdown.replace("](adr/)", "](adr/README.md)")
    return markdown if depth else _EXAMPLES.sub(lambda found: f"]({blob}docs/{found[1]})", markdown)
