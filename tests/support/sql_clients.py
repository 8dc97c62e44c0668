"""Clients of a server of SQL: each sends statements, and gets rows or a refusal for each."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from py4j.protocol import Py4JJavaError

from leaks.support import bare_jvm
from support.spark_home import spark_home
from support.template_site import Site
from support.templates import plain_environment


class Refused(NamedTuple):
    """What a client got in the place of rows."""

    text: str


Answer = list[tuple[str, ...]] | Refused
Client = Callable[[Sequence[str]], list[Answer]]


def beeline(port: int, folder: Path, script: str, *options: str) -> str:
    (folder / "beeline.sql").write_text(script)
    done = subprocess.run(
        [spark_home() / "bin" / "beeline", "-u", f"jdbc:hive2://127.0.0.1:{port}", "-n", "ann", "--force=true",
         *options, "-f", folder / "beeline.sql"],
        env=plain_environment(), cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        timeout=240, check=False,
    )  # fmt: skip
    return done.stdout


def beeline_client(site: Site, port: int) -> Client:
    def run(texts: Sequence[str]) -> list[Answer]:
        marked = "".join(f"SELECT 'mark-{number}';\n{text};\n" for number, text in enumerate(texts))
        options = ("--silent=true", "--showHeader=false", "--outputformat=tsv2")
        output = beeline(port, site.folder, f"{marked}SELECT 'mark-{len(texts)}';\n", *options)
        answers: list[Answer] = []
        for number in range(len(texts)):
            _, first, rest = output.partition(f"mark-{number}\n")
            part, last, _ = rest.partition(f"mark-{number + 1}\n")
            assert first, site.hide(output)[-3000:]
            assert last, site.hide(rest)[-3000:]
            # A silent beeline has no prompt, and prints that as "null".
            lines = [line for each in part.splitlines() if (line := re.sub(r"^(null *)+", "", each).strip())]
            refused = any(line.startswith("Error:") for line in lines)
            answers.append(Refused(part) if refused else [tuple(line.split("\t")) for line in lines])
        return answers

    return run


def jdbc_client(url: str, driver: str, jar: Path | None = None) -> Client:
    def run(texts: Sequence[str]) -> list[Answer]:
        with bare_jvm(classes=jar) as gateway:
            gateway.jvm.java.lang.Class.forName(driver)
            connection = gateway.jvm.java.sql.DriverManager.getConnection(url, "ann", "")
            # What tools that show a database ask first.
            assert connection.getMetaData().getSchemas().next()
            answers = [jdbc_answer(connection, text) for text in texts]
            connection.close()
            return answers

    return run


def jdbc_rows(connection: Any, text: str) -> list[tuple[str, ...]]:
    """The rows of a statement over a JDBC connection of Java's, each column as text."""
    statement = connection.createStatement()
    if not statement.execute(text):
        return []
    rows, found = statement.getResultSet(), []
    width = rows.getMetaData().getColumnCount()
    while rows.next():
        found.append(tuple(rows.getString(number + 1) for number in range(width)))
    return found


def jdbc_answer(connection: Any, text: str) -> Answer:
    try:
        return jdbc_rows(connection, text)
    except Py4JJavaError as error:
        return Refused(str(error))


def pyhive_client(port: int) -> Client:
    from pyhive import exc, hive

    def run(texts: Sequence[str]) -> list[Answer]:
        answers: list[Answer] = []
        with hive.connect("127.0.0.1", port, username="ann") as connection, connection.cursor() as cursor:
            for text in texts:
                try:
                    cursor.execute(text)
                    rows = cursor.fetchall()
                    answers.append([tuple(as_text(cell) for cell in row) for row in rows])
                except exc.Error as error:
                    answers.append(Refused(str(error)))
        return answers

    return run


def as_text(cell: object) -> str:
    return cell.decode() if isinstance(cell, bytes | bytearray) else str(cell)


def send_listener(session: Any, payload: bytes) -> object:
    """Register a listener as the Scala client does, with bytes that the server would deserialize."""
    from pyspark.sql.connect.proto import Command

    command = Command()
    command.streaming_query_manager_command.add_listener.id = "peek"
    command.streaming_query_manager_command.add_listener.listener_payload = payload
    return session.client.execute_command(command)
