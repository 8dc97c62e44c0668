"""Confs of sessions: every way to set, reset and inherit them in a running application."""

from __future__ import annotations

import contextlib
import warnings

import pytest
from pyspark.errors import AnalysisException, PySparkException

from spark.policy_doors.policy import DEFAULTS, PARTITIONS, refused

pytestmark = pytest.mark.spark


class TestSession:
    def test_conf_set(self, spark):
        refused(lambda: spark.conf.set(PARTITIONS, "51"), PARTITIONS)
        assert spark.conf.get(PARTITIONS) == "7"
        spark.conf.set(PARTITIONS, "50")
        assert spark.conf.get(PARTITIONS) == "50"

    def test_set_and_reset(self, spark):
        refused(lambda: spark.sql(f"SET {PARTITIONS}=51"), PARTITIONS)
        spark.sql(f"SET {PARTITIONS}=49")
        assert spark.conf.get(PARTITIONS) == "49"
        spark.sql(f"RESET {PARTITIONS}")
        assert spark.conf.get(PARTITIONS) == "7"
        spark.sql("SET spark.sql.session.timeZone=UTC")
        refused(lambda: spark.sql("SET TIME ZONE 'Asia/Tokyo'"), "spark.sql.session.timeZone")
        spark.sql("SET spark.shop.zone=a")
        spark.sql("RESET")
        assert (spark.conf.get(PARTITIONS), spark.conf.get("spark.shop.zone", "none")) == ("7", "none")

    def test_unset_does_not_lose_the_operators_value(self, spark):
        spark.conf.unset(PARTITIONS)
        refused(lambda: spark.range(1).count(), PARTITIONS)
        assert spark.conf.get(PARTITIONS) == "7"
        spark.conf.set("spark.shop.zone", "b")
        spark.conf.unset("spark.shop.zone")
        assert spark.range(2).count() == 2

    @pytest.mark.parametrize(
        ("key", "text"),
        [
            ("spark.sql.SHUFFLE.partitions", "51"),
            ("spark.shop.zone", "c"),
            ("spark.config.providers", "mine"),
            ("spark.sql.queryExecutionListeners2", "x"),
            ("fs.s3a.endpoint", "elsewhere"),
            ("spark.hadoop.fs.s3a.endpoint", "elsewhere"),
            ("fs.s3a.bucket.data.endpoint", "elsewhere"),
            ("spark.sql.catalog.mine", "com.acme.Catalog"),
            ("spark.sql.legacy.avro.datetimeRebaseModeInWrite", "LEGACY"),
        ],
    )
    def test_other_spellings_and_kinds_of_keys(self, spark, key, text):
        if key.endswith("2"):  # nobody's key: free
            spark.conf.set(key, text)
            assert spark.conf.get(key) == text
            return
        refused(lambda: spark.conf.set(key, text), key)
        refused(lambda: spark.sql(f"SET {key}={text}"), key)
        assert spark.conf.get(key, "none") == "none" or key in DEFAULTS

    @pytest.mark.parametrize("key", ["mapred.reduce.tasks", "mapreduce.job.reduces"])
    def test_hives_names_that_set_turns_into_sparks(self, spark, key):
        try:
            refused(lambda: spark.sql(f"SET {key}=51"), PARTITIONS)
            spark.sql(f"SET {key}=48")
        except AssertionError:
            # A version that knows this name no more takes it as nobody's key.
            assert spark.conf.get(key) in ("51", "48")
            assert spark.conf.get(PARTITIONS) == "7"
        else:
            assert spark.conf.get(PARTITIONS) == "48"

    def test_statements_that_come_as_text(self, spark):
        if spark.version < "4":
            return
        refused(lambda: spark.sql(f"EXECUTE IMMEDIATE 'SET {PARTITIONS}=51'"), PARTITIONS)
        assert spark.conf.get(PARTITIONS) == "7"

    def test_hints_set_nothing(self, spark):
        """Spark has no hint that sets a conf or an option; what other engines know is a comment here."""
        hints = f"SET_VAR({PARTITIONS}=51)", f"SET({PARTITIONS}, '51')", "OPTIONS('tenant'='them')"
        for hint in hints:
            with contextlib.suppress(PySparkException):  # no syntax at all, in some versions
                assert spark.sql(f"SELECT /*+ {hint} */ 1 AS id").collect()[0][0] == 1
        assert spark.sql("SELECT /*+ REPARTITION(3) */ * FROM range(4)").count() == 4
        assert spark.conf.get(PARTITIONS) == "7"

    def test_sessions_that_a_user_clones(self, spark):
        """Spark clones sessions too, and changes some confs of its own: a user's clone is not free to do so."""
        try:
            clone = spark.cloneSession()
        except (AttributeError, TypeError, PySparkException):
            return  # a version or a front without
        # At its first statement, if it is not watched yet.
        refused(lambda: (clone.conf.set(PARTITIONS, "51"), clone.range(1).count()), PARTITIONS)
        refused(lambda: clone.sql(f"SET {PARTITIONS}=51"), PARTITIONS)
        clone.conf.set(PARTITIONS, "9")
        assert (clone.conf.get(PARTITIONS), spark.conf.get(PARTITIONS)) == ("9", "7")

    def test_values_through_references_count_and_are_not_shown(self, spark, application):
        file = application["folder"] / "shop.properties"
        spark.conf.set("spark.shop.zone", f"${{files:{file}:region}}")
        refused(lambda: spark.conf.set("spark.shop.zone", f"${{files:{file}:password}}"), "spark.shop.zone")
        spark.conf.set("spark.shop.token", f"${{files:{file}:password}}")
        refused(lambda: spark.conf.set("spark.shop.token", f"${{files:{file}:admin}}"), "spark.shop.token")
        spark.conf.unset("spark.shop.zone")
        spark.conf.unset("spark.shop.token")

    def test_new_session(self, classic):
        other = classic.newSession()

        def set_and_use() -> None:  # whoever watches first: the hook of new sessions, or the first statement
            other.conf.set(PARTITIONS, "51")
            other.range(1).count()

        refused(set_and_use, PARTITIONS)
        assert other.range(1).count() == 1
        assert other.conf.get(PARTITIONS) == "7"
        refused(lambda: other.conf.set(PARTITIONS, "52"), PARTITIONS)
        other.conf.set(PARTITIONS, "9")
        assert classic.conf.get(PARTITIONS) == "7"

    def test_builder_on_a_running_session(self, classic):
        builder = type(classic).builder
        try:
            refused(lambda: builder.config(PARTITIONS, "51").getOrCreate(), PARTITIONS)
            assert builder.config(PARTITIONS, "8").getOrCreate().conf.get(PARTITIONS) == "8"
        finally:
            builder._options.clear()
            classic.conf.set(PARTITIONS, "7")

    @pytest.mark.sparks(since="4.0")
    def test_builder_options_of_a_remote_session(self, application):
        from pyspark.sql.connect.session import SparkSession as ConnectSession

        builder = ConnectSession.builder.remote(f"sc://127.0.0.1:{application['port']}")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # the client only warns of what the server refuses
            session = builder.config(PARTITIONS, "51").create()
        try:
            # Refused when it was set, or, if nobody watched yet, at the first statement.
            with contextlib.suppress(AnalysisException):
                session.range(1).count()
            assert session.conf.get(PARTITIONS) == "7"
            assert session.range(1).count() == 1
        finally:
            session.stop()

    def test_caching_and_clones_by_spark_itself_are_nobodys_override(self, classic):
        frame = classic.range(10).repartition(2).cache()
        assert frame.count() == 10
        frame.unpersist()
