"""``sparkconfig scrub`` on S3, as moto serves it."""

from __future__ import annotations

import pytest

pytest.importorskip("moto")
pytest.importorskip("pyarrow")

from sparkconfig.cli.main import main
from sparkconfig.redaction import MASK
from sparkconfig.scrub import logs
from sparkconfig.scrub.engine import Engine
from support.fakes.moto_server import REGION, moto_server


def test_objects_are_found_cleaned_and_replaced(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    engine = Engine({"password": "value-in-s3-77"})
    with moto_server() as moto:
        keys = moto.keys["admin"]
        monkeypatch.setenv("AWS_ENDPOINT_URL", moto.url)
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", keys["access.key.id"])
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", keys["secret.access.key"])
        monkeypatch.setenv("AWS_DEFAULT_REGION", REGION)
        monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        s3 = moto.client("s3")
        s3.create_bucket(Bucket="history", CreateBucketConfiguration={"LocationConstraint": REGION})
        bodies = {
            "e/app-1": b"a value-in-s3-77 b\n",
            "e/app-2": b"nothing\n",
            "e/.hidden": b"value-in-s3-77\n",
        }
        for key, body in bodies.items():
            s3.put_object(Bucket="history", Key=key, Body=body)
        found = logs.logs_in(["s3a://history/e"])
        assert [str(log.path) for log in found] == ["s3a://history/e/app-1", "s3a://history/e/app-2"]
        results = [logs.clean(log, engine) for log in found]
        assert [(result.changed, result.skip) for result in results] == [(True, None), (False, None)]
        kept = {each["Key"] for each in s3.list_objects_v2(Bucket="history")["Contents"]}
        assert kept - {"e/"} == set(bodies), "pyarrow leaves a marker of the folder, as S3A does"
        assert s3.get_object(Bucket="history", Key="e/app-1")["Body"].read() == f"a {MASK} b\n".encode()
        (one,) = logs.logs_in(["s3://history/e/app-1"])
        assert not logs.find(one, engine).counts
        assert main(["scrub", "find", "s3://history/e", "--json"]) == 0
        assert capsys.readouterr().out.count("app-1") == 0
        with pytest.raises(FileNotFoundError):
            logs.logs_in(["s3://history/nothing/there"])
