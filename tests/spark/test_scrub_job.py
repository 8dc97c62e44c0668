"""The job of docs/scrub.md cleans logs on executors, and shows no value."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sparkconfig.redaction import MASK
from sparkconfig.scrub import codecs
from support.leaks import LeakFinder
from support.starts import run_job

pytestmark = pytest.mark.spark
PAGE = Path(__file__).parents[2] / "docs" / "scrub.md"
VALUE = "Canary-scrub-job-4471"
LINE = '{{"Event":"SparkListenerEnvironmentUpdate","Spark Properties":{{"spark.shop.password":"{}"}}}}\n'


def test_the_job_of_the_page_writes_logs_with_masks(tmp_path: Path) -> None:
    [job] = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    (tmp_path / "job.py").write_text(job)
    (tmp_path / "shop.properties").write_text(f"password={VALUE}\n")
    (tmp_path / "events").mkdir()
    for name in ("app-1", "app-2.zstd", "app-3.gz"):
        with (
            (tmp_path / "events" / name).open("wb") as raw,
            codecs.writing(raw, codecs.codec_of(name)) as out,
        ):
            out.write(LINE.format(VALUE).encode() * 3)
    confs = {
        "spark.master": "local[1]",
        "spark.config.providers": "files",
        "spark.config.providers.files.class": "file",
    }
    reference = f"${{files:{tmp_path}/shop.properties:password}}"
    done = run_job(tmp_path, confs, tmp_path / "events", tmp_path / "clean", reference)
    assert LeakFinder([VALUE]).count((done.stdout + done.stderr).encode()) == 0, "the job shows the value"
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    assert done.stdout.count(": 3 places masked") == 3
    for path in (tmp_path / "clean").glob("app-*"):
        with path.open("rb") as raw, codecs.reading(raw, codecs.codec_of(path)) as stream:
            assert stream.read(1 << 20).decode() == LINE.format(MASK) * 3
    assert len(list((tmp_path / "clean").glob("app-*"))) == 3
