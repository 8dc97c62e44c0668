"""What an attack would reach: files, addresses, classes, databases, texts, each with the number of the attack in it."""

from __future__ import annotations

import contextlib
import ctypes
import itertools
import json
import os
import re
import secrets
import socketserver
import struct
import threading
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from leaks.support import bare_jvm

IN_OPEN = 0x20
_SOURCE = """
package canary;
public class C000000 implements java.io.Serializable {
  private static final long serialVersionUID = 1L;
  static {
    try { new java.io.FileOutputStream("%s/C000000").close(); } catch (java.io.IOException problem) { }
  }
  public static String call() { return "%s"; }
}
"""


class Canary:
    """The canaries of one run below ``folder``; ``lake`` in it is what users may read."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.word = f"Canary{secrets.token_hex(4)}"
        self.files, self.lake = folder / "canary", folder / "lake"
        self.classes, self.fired, self.derby = folder / "classes", folder / "fired", folder / "derby"
        self._stage = folder / "stage"
        for each in (self.files, self.lake, self.classes / "canary", self.fired, self.derby, self._stage):
            each.mkdir(parents=True)
        self.numbers = itertools.count(1 << 16)
        self.found: dict[int, set[str]] = defaultdict(set)
        with bare_jvm() as gateway:
            compiler = gateway.jvm.org.codehaus.janino.SimpleCompiler()
            compiler.cook(_SOURCE % (self.fired, self.text("class")))
            self._class = bytes(compiler.getBytecodes().get("canary.C000000"))
        self._watch()
        self.port = self._serve(0)
        with contextlib.suppress(OSError):
            self._serve(1080)  # what Java takes for SOCKS

    def text(self, kind: str, number: int | str = "") -> str:
        """What only a canary of this kind holds."""
        return f"{self.word}-{kind}-{number}"

    def host(self, number: int) -> str:
        """An address of this machine that names the number."""
        return f"127.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"

    def place(self, number: int) -> str:
        return f"{self.host(number)}:{self.port}"

    def file(self, number: int) -> Path:
        """A file that nobody may open."""
        made = self._stage / f"n{number}"
        made.write_text(f"{self.text('file', number)}\n")
        # Made elsewhere: the watch sees what others open.
        return made.rename(self.files / made.name)

    def class_name(self, number: int) -> str:
        """A class on the server's class path that leaves a file when it is initialized."""
        name = f"C{number:06d}"
        made = self.classes / "canary" / f"{name}.class"
        made.write_bytes(self._class.replace(b"C000000", name.encode()))
        return f"canary.{name}"

    def serialized(self, number: int) -> bytes:
        """An object of such a class as Java serializes it."""
        name = self.class_name(number).encode()
        head = b"\xac\xed\x00\x05sr" + struct.pack(">H", len(name)) + name
        return head + struct.pack(">Q", 1) + b"\x02\x00\x00xp"

    def in_lake(self, name: str, text: str) -> Path:
        made = self.lake / name
        made.parent.mkdir(exist_ok=True, parents=True)
        made.write_text(text)
        return made

    def link(self, number: int) -> Path:
        made = self.lake / f"link{number}"
        made.symlink_to(self.file(number))
        return made

    def schema_file(self, number: int, names: str) -> Path:
        """An XML schema of the lake that names something else."""
        text = f"<!DOCTYPE a SYSTEM '{names}'><xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema'/>"
        return self.in_lake(f"x{number}.xsd", text)

    def sink_log(self, number: int) -> Path:
        """A folder of the lake with a sink's log that names a file outside."""
        file = self.file(number)
        entry = {
            "path": f"file://{file}", "size": file.stat().st_size, "isDir": False, "modificationTime": 1,
            "blockReplication": 1, "blockSize": 1, "action": "add",
        }  # fmt: skip
        return self.in_lake(f"log{number}/_spark_metadata/0", f"v1\n{json.dumps(entry)}").parent.parent

    def footer(self, number: int, schema: str) -> Path:
        """A Parquet file of the lake, of which its footer says that it has this schema."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        made = self.in_lake(f"footer{number}/a.parquet", "")
        metadata = {"org.apache.spark.sql.parquet.row.metadata": schema}
        pq.write_table(pa.table({"id": [1]}).replace_schema_metadata(metadata), made)
        return made.parent

    def told(self, number: int, answer: str) -> None:
        """Look for canaries in what a server answered to this attack."""
        for kind, own in set(re.findall(rf"{self.word}-(\w+)-(\d*)", answer)):
            self.found[int(own or number)].add(f"told {kind}")
        # In Derby's log, a database that lives in memory.
        for own in re.findall(r"database directory memory:\S*?m(\d{5,})", answer):
            self.found[int(own)].add("database made")

    def hits(self) -> Mapping[int, set[str]]:
        """What happened so far: the attack's number to what it reached."""
        for folder, what in ((self.fired, "class ran"), (self.derby, "database made")):
            for each in folder.iterdir():
                self.found[int(re.sub(r"\D", "", each.name) or 0)].add(what)
        return dict(self.found)

    def _watch(self) -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        descriptor = libc.inotify_init1(os.O_CLOEXEC)
        assert libc.inotify_add_watch(descriptor, bytes(self.files), IN_OPEN) > 0, ctypes.get_errno()

        def read() -> None:
            while events := os.read(descriptor, 1 << 16):
                for name in re.findall(rb"n(\d{5,})\0", events):
                    self.found[int(name)].add("file opened")

        threading.Thread(target=read, daemon=True).start()

    def _serve(self, port: int) -> int:
        canary = self

        class Handler(socketserver.BaseRequestHandler):
            """Answers HTTP with a text, asks PostgreSQL's clients to go on, and closes."""

            def handle(self) -> None:
                first, second, third, fourth = map(int, self.request.getsockname()[0].split("."))
                number = (second << 16) + (third << 8) + fourth if first == 127 else 0
                canary.found[number].add("connected")
                self.request.settimeout(2)
                with contextlib.suppress(OSError):
                    if self.request.recv(4096)[:4] in (b"GET ", b"HEAD", b"POST"):
                        body = canary.text("http", number)
                        head = f"HTTP/1.0 200 OK\r\nContent-Length: {len(body)}\r\n\r\n"
                        self.request.sendall(f"{head}{body}".encode())

        class Server(socketserver.ThreadingTCPServer):
            allow_reuse_address = True
            daemon_threads = True

        server = Server(("0.0.0.0", port), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return int(server.server_address[1])
