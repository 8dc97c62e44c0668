"""The files in conf/ say what the code takes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


class TestTemplates:
    def test_spark_defaults(self) -> None:
        from sparkconfig.checks.conf_files import read_confs
        from sparkconfig.settings.schema import parse

        confs = read_confs([ROOT / "conf" / "spark-defaults.conf.template"])
        assert confs["spark.plugins"] == "io.sparkconfig.ConfigPlugin"
        assert parse(confs).providers == ("sealed",)
        assert "${sealed:shop:password}" in confs.values()

    def test_operator_file_with_every_line_turned_on(self, tmp_path: Path) -> None:
        from sparkconfig.checks.conf_files import read_confs
        from sparkconfig.errors import ConfigurationError
        from sparkconfig.resolution.declared import load_providers
        from sparkconfig.settings.schema import Settings, parse

        text = (ROOT / "conf" / "sparkconfig.conf.template").read_text(encoding="utf-8")
        everything = re.sub(r"^# (spark\.config\.\S+ = )", r"\1", text, flags=re.MULTILINE)
        assert everything.count("\nspark.config.") > text.count("\nspark.config.")
        path = tmp_path / "sparkconfig.conf"
        path.write_text(everything)
        confs = read_confs([path], ["spark.config.providers=sealed,files,envvar"])
        found = parse(confs)
        defaults = Settings()
        for name in (
            "unresolved",
            "poll_interval",
            "stale_expiry",
            "rpc_insecure",
            "reload_action",
            "reload_trigger",
        ):
            assert getattr(found, name) == getattr(defaults, name), (
                f"the template shows another default for {name}"
            )
        with pytest.raises(ConfigurationError) as caught:
            load_providers(confs)
        # Everything is right but the files, which only an operator's machine has.
        assert all("/etc/" in problem and "does not exist" in problem for problem in caught.value.problems)
