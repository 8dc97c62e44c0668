"""``sparkconfig refresh``: read all secrets of a running application again and publish them together (KIP-421)."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from sparkconfig.checks.exit_codes import ExitCode
from sparkconfig.cli.output import Output, table
from sparkconfig.errors import AgentError, SecretNotFoundError

__all__ = ["register"]

HELP = "make a running application read its secrets again"
PAGE = "rotation.md"

_WAIT_SECONDS = 60.0
_PAUSE_SECONDS = 0.02

_ABOUT = """\
Ask a running application to read every store again, check that all references in use have a value, and publish
them as one generation. With spark.config.reload.trigger=manual nothing else does that: change all stores first,
then refresh (KIP-421's two-step change). If one reference has no value, nothing changes and the errors say why.

Run it on the driver's machine, as the user who runs the driver: the application's socket is in a directory that
no other user can enter, and the command touches no directory of another user. Root runs it as that user, for example
with 'sudo -u USER sparkconfig refresh'.
"""

_EXAMPLES = """\
examples:
  sparkconfig refresh                              the one application that runs here
  sparkconfig refresh app-20300101000000-0001
  sparkconfig refresh --wait && revoke-old-password   once no executor uses the old one any more
  sparkconfig refresh --status                     generation, providers and their last errors
"""


def register(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the subcommand."""
    command = commands.add_parser(
        "refresh",
        description=_ABOUT,
        epilog=_EXAMPLES,
    )
    command.add_argument(
        "application",
        nargs="?",
        help="application id, such as app-20300101000000-0001, or the path of its socket; needed if several run",
    )
    command.add_argument("--list", action="store_true", help="list the running applications")
    command.add_argument(
        "--status", action="store_true", help="show generation and providers, without reading"
    )
    command.add_argument(
        "--wait",
        nargs="?",
        type=float,
        const=_WAIT_SECONDS,
        metavar="SECONDS",
        help="return when all executors have the generation; after SECONDS (60) name those that do not, and fail",
    )
    command.add_argument("--json", action="store_true", help="print one JSON object")
    command.set_defaults(run=_run)


def _run(options: argparse.Namespace, out: Output) -> ExitCode:
    from sparkconfig.agent import control

    found = _living()
    if options.list:
        rows = [
            [name, "no answer" if status is None else str(status["generation"])]
            for name, (_, status) in found.items()
        ]
        lines = table(["application", "generation"], rows) if rows else ["no application"]
        out.result({"applications": [name for name, _ in rows]}, lines)
        return ExitCode.OK
    name = _chosen(options.application, {name: path for name, (path, _) in found.items()})
    path, status = found[name]
    if options.status:
        status = status or control.ask(path, "status")["status"]
        out.result({"application": path.stem, "status": status}, _lines(status))
        return ExitCode.OK
    answer = control.ask(path, "refresh")
    waited = None if options.wait is None else _reached(path, answer["generation"], options.wait)
    changed = answer["changed"]
    before, after = answer["before"], answer["generation"]
    text = (
        f"{name}: nothing has changed, generation {after} stays"
        if before == after
        else f"{name}: generation {before} -> {after}, {len(changed)} changed"
    )
    result = {"application": path.stem, "before": before, "generation": after, "changed": changed}
    lines = [text, *(f"  {each}" for each in changed)]
    if waited is None:
        out.result(result, lines)
        return ExitCode.OK
    count, missing = waited
    lines.append(
        f"{len(missing)} of {count} do not have it: {', '.join(missing)}"
        if missing
        else f"all {count} have it: the driver and its executors"
    )
    out.result({**result, "missing": missing}, lines)
    return ExitCode.UNAVAILABLE if missing else ExitCode.OK


def _reached(path: Path, generation: int, seconds: float) -> tuple[int, list[str]]:
    """Wait until the driver and its executors have a generation.

    Returns:
        How many they are, and who did not have it in time.
    """
    from sparkconfig.agent import control

    deadline = time.monotonic() + seconds
    while True:
        answer = control.ask(path, "executors")
        executors = dict(answer.get("executors", {}))
        missing = [f"executor {id_}" for id_, has in sorted(executors.items()) if has < generation]
        if answer.get("generation", 0) < generation:
            missing.insert(0, "the driver")
        if not missing or time.monotonic() > deadline:
            return len(executors) + 1, missing
        time.sleep(_PAUSE_SECONDS)


def _living() -> dict[str, tuple[Path, dict[str, object] | None]]:
    """The applications by their names, with their status if they answer now."""
    from sparkconfig.agent import control

    living: dict[Path, dict[str, object] | None] = {}
    for path in control.sockets().values():
        try:
            living[path] = control.ask(path, "status")["status"]
        except control.GoneError:
            # Left behind by a side process that was killed.
            control.remove(path)
        except AgentError:
            living[path] = None  # it is alive, and may answer the next one
    ids = [path.stem for path in living]
    return {
        (path.stem if ids.count(path.stem) == 1 else str(path)): (path, status)
        for path, status in living.items()
    }


def _chosen(wanted: str | None, found: dict[str, Path]) -> str:
    """The name of the one that is meant, by its id or by the path of its socket."""
    listed = ", ".join(found) or "none"
    if wanted is None and len(found) == 1:
        return next(iter(found))
    if wanted is None:
        if not found:
            raise SecretNotFoundError(
                "no application of this user with sparkconfig runs here; start one first"
            )
        raise SecretNotFoundError(f"several applications run; name one of: {listed}")
    paths = [str(path) for path in found.values() if path.stem == wanted]
    if len(paths) > 1:
        raise SecretNotFoundError(
            f"several applications that run here have the id {wanted}; name the socket of one: {', '.join(paths)}"
        )
    for name, path in found.items():
        if wanted == name or Path(wanted).absolute() == path:
            return name
    raise SecretNotFoundError(
        f"no application of this user has this id and runs here with sparkconfig; there are: {listed}"
    )


def _lines(status: dict[str, object]) -> list[str]:
    rows = [
        [
            str(provider["name"]),
            "up" if provider["up"] else "down",
            str(path["path"]),
            str(path["age_ms"]),
            str(path["error"] or ""),
        ]
        for provider in status["providers"]  # type: ignore[attr-defined]
        for path in provider["paths"]
    ]
    head = f"generation {status['generation']}, trigger {status['reload_trigger']}"
    return [head, *table(["provider", "state", "path", "age ms", "last error"], rows)]
