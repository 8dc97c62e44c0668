"""What a change triggers under `spark.config.reload.action`, for the application and for single queries."""

from __future__ import annotations

from pathlib import Path

import pytest

from sparkconfig import current, worker
from sparkconfig._spark import driver
from sparkconfig.streaming import managed
from support.processes import wait_until
from support.rotation import replace_file
from support.session import running_session

pytestmark = pytest.mark.spark


@pytest.mark.parametrize(
    ("action", "restarted"), [("none", ["restart"]), ("refresh", ["restart"]), ("restart", [None, "restart"])]
)
def test_the_reload_action_of_the_application_and_of_queries(
    tmp_path: Path, action: str, restarted: list[str | None]
) -> None:
    from pyspark.sql.streaming import StreamingQueryListener

    secrets = tmp_path / "s.properties"
    replace_file(secrets, "key=first-value\n")
    text = f"${{file:{secrets}:key}}"
    conf = {
        "spark.master": "local[2]",
        "spark.config.providers": "file",
        "spark.config.reload.action": action,
        "spark.hadoop.fs.shop.key": text,
    }
    with running_session(conf, folder=tmp_path) as spark:
        events: list[tuple[str, str]] = []

        class Listener(StreamingQueryListener):
            def onQueryStarted(self, event):  # noqa: N802
                events.append(("start", str(event.id)))

            def onQueryProgress(self, event):  # noqa: N802
                pass

            def onQueryIdle(self, event):  # noqa: N802
                pass

            def onQueryTerminated(self, event):  # noqa: N802
                events.append(("end", str(event.id)))

        def factory(name: str):
            def start(options):
                rate = spark.readStream.format("rate").options(**options).load().writeStream.format("noop")
                return rate.option("checkpointLocation", str(tmp_path / name)).start()

            return start

        hadoop = spark.sparkContext._jsc.hadoopConfiguration()
        assert hadoop.get("fs.shop.key") == "first-value"
        spark.streams.addListener(Listener())
        # In this order they are looked at: when the last one has restarted, the others have had their turn.
        queries = {
            own: managed(factory(str(own)), {"key": text}, action=own) for own in (None, "none", "restart")
        }
        try:
            ids = {own: str(query.query.id) for own, query in queries.items()}
            generation = driver.generation()
            replace_file(secrets, "key=second-value\n")
            wait_until("a generation", lambda: driver.generation() > generation, timeout=30)
            wait_until("the restart", lambda: queries["restart"].restarts, timeout=60)
            assert [own for own, query in queries.items() if query.restarts] == restarted
            assert all(query.query.isActive for query in queries.values())
            # Whoever asks gets the newest value, whatever the action is.
            assert current(text).reveal() == "second-value"
            assert worker.configs({"key": text})["key"].reveal() == "second-value"
            assert hadoop.get("fs.shop.key") == ("first-value" if action == "none" else "second-value")
            for own in restarted:
                told = [("start", ids[own]), ("end", ids[own]), ("start", ids[own])]
                wait_until(
                    "the listener's events",
                    lambda told=told, own=own: [event for event in events if event[1] == ids[own]] == told,
                    timeout=30,
                )
        finally:
            for query in queries.values():
                query.stop()
