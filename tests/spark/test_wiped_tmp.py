"""All temporary files are removed under a running application, as cleaners and impatient people do."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from sparkconfig._spark import driver
from support.session import running_session

pytestmark = pytest.mark.spark


def wipe(folder: Path) -> None:
    for each in folder.iterdir():
        shutil.rmtree(each) if each.is_dir() else each.unlink()


def test_old_and_new_python_workers_have_the_newest_value(tmp_path):
    # Short, since it holds a socket.
    temporary = Path("/tmp") / f"sparkconfig-wiped-{os.getpid()}"
    temporary.mkdir(mode=0o700)
    store = tmp_path / "shop.properties"
    store.write_text("password=first-value\n")
    text = f"${{file:{store}:password}}"
    confs = {
        "spark.master": "local[1]",
        "spark.driver.extraJavaOptions": f"-Djava.io.tmpdir={temporary}",
        "spark.config.providers": "file",
        "spark.shop.password": text,
    }

    def use(_: int) -> tuple[str, int]:
        from sparkconfig.worker import current

        return current(text).reveal(), os.getpid()

    def rotate(value: str) -> None:
        known = driver.generation()
        store.with_suffix(".new").write_text(f"password={value}\n")
        store.with_suffix(".new").replace(store)
        assert driver.await_generation(known, 60_000) > known

    try:
        with running_session(confs, folder=tmp_path) as spark:
            context = spark.sparkContext

            def ask() -> tuple[str, int]:
                (found,) = context.parallelize([0], 1).map(use).collect()
                return found

            value, old = ask()
            assert value == "first-value"
            for number in range(2):
                wipe(temporary)
                # Other variables make other workers.
                context.environment["WORKER"] = str(number)
                value, new = ask()
                assert (value, new != old) == (("first-value", "value-0")[number], True)
                rotate(f"value-{number}")
                assert ask() == (f"value-{number}", new)
                # A worker that had read before all was removed.
                del context.environment["WORKER"]
                assert ask() == (f"value-{number}", old)
            assert len(list(temporary.glob("[0-9]*"))) == 1
    finally:
        shutil.rmtree(temporary)
