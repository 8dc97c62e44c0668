"""Calls to the store and time for 1,000 references in 10 paths, cold and warm, and what importing costs.

    python bench/bench_providers.py [--json FILE] [--only vault,aws-ssm]

The stores are moto's server and the contract fakes of the tests, on loopback: the time is ours and the client's, with
no network in it; the number of calls is what counts on a real one. Cold: configure, connect, log in, first round. Warm:
a second round over the same connections. No cache stands between: each round reads everything.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python"))
sys.path.insert(0, str(ROOT / "tests"))

from sparkconfig.providers.registry import find_class  # noqa: E402 - after the path
from sparkconfig.resolution.transformer import ConfigTransformer  # noqa: E402
from support.fakes.http_server import FakeHttpServer  # noqa: E402
from support.fakes.tls import make_tls  # noqa: E402

PATHS, KEYS = 10, 100
DATA = {f"key-{number}": f"value-{number:04}" for number in range(KEYS)}
Store = tuple[dict[str, str], list[str], Callable[[], int]]
"""Params, the ten paths, and how many calls the store has got so far."""


def _http(
    fake: FakeHttpServer, put: Callable[[str], object], params: dict[str, str], paths: list[str]
) -> Store:
    for path in paths:
        put(path)
    return params, paths, lambda: len(fake.requests)


@contextmanager
def vault(_folder: Path) -> Iterator[Store]:
    from support.fakes.vault import FakeVault

    with FakeVault() as fake:
        params = {"address": fake.url, "token": fake.ROOT}
        yield _http(fake, lambda path: fake.put(path, DATA), params, [f"shop/{n}" for n in range(PATHS)])


@contextmanager
def kubernetes(folder: Path) -> Iterator[Store]:
    from support.fakes.kubernetes import FakeKubernetes

    with FakeKubernetes() as fake:
        (folder / "token").write_text(fake.token)
        params = {"server": fake.url, "token.file": str(folder / "token")}
        paths = [f"shop/db-{n}" for n in range(PATHS)]
        yield _http(fake, lambda path: fake.put(*path.split("/"), DATA), params, paths)


@contextmanager
def databricks(_folder: Path) -> Iterator[Store]:
    from support.fakes.databricks import FakeDatabricks

    with FakeDatabricks() as fake:
        params = {"host": fake.url, "token": fake.TOKEN}
        yield _http(fake, lambda path: fake.put(path, DATA), params, [f"shop-{n}" for n in range(PATHS)])


@contextmanager
def azure(folder: Path) -> Iterator[Store]:
    from support.fakes.key_vault import FakeKeyVault

    tls = make_tls(folder)
    with FakeKeyVault(tls) as fake:
        params = {
            "vault.url": fake.url,
            "tenant.id": fake.TENANT,
            "client.id": fake.CLIENT,
            "client.secret": fake.SECRET,
            "authority.host": fake.url,
            "verify.challenge": "false",
            "ca.file": tls.ca,
        }
        paths = [f"shop-{n}" for n in range(PATHS)]
        yield _http(fake, lambda path: fake.put(path, json.dumps(DATA)), params, paths)


@contextmanager
def gcp(folder: Path) -> Iterator[Store]:
    from support.fakes.secret_manager import FakeSecretManager, service_account_file

    tls = make_tls(folder)
    with FakeSecretManager(tls) as fake:
        account = service_account_file(folder, fake.PROJECT)
        params = {"endpoint": fake.endpoint, "ca.file": tls.ca, "credentials.file": account}
        paths = [f"shop-{n}" for n in range(PATHS)]
        yield _http(fake, lambda path: fake.put(path, json.dumps(DATA)), params, paths)


@contextmanager
def _moto() -> Iterator[tuple]:
    from support.fakes.fault_proxy import FaultProxy
    from support.fakes.moto_server import moto_server

    os.environ.pop("AWS_PROFILE", None)
    with moto_server() as moto, FaultProxy(moto.url) as proxy:
        yield moto, proxy


@contextmanager
def secrets_manager(_folder: Path, *, whole: bool = False) -> Iterator[Store]:
    with _moto() as (moto, proxy):
        admin = moto.client("secretsmanager")
        paths = [f"shop/{n}" for n in range(PATHS)]
        for path in paths:
            if whole:
                for key, value in DATA.items():
                    admin.create_secret(Name=f"{path}/{key}", SecretString=value)
            else:
                admin.create_secret(Name=path, SecretString=json.dumps(DATA))
        params = {**moto.params("reader", proxy.url), "layout": "whole" if whole else "json"}
        yield params, paths, lambda: len(proxy.requests)


@contextmanager
def secrets_manager_whole(folder: Path) -> Iterator[Store]:
    with secrets_manager(folder, whole=True) as store:
        yield store


@contextmanager
def parameter_store(_folder: Path) -> Iterator[Store]:
    with _moto() as (moto, proxy):
        admin = moto.client("ssm")
        paths = [f"/shop/{n}" for n in range(PATHS)]
        for path in paths:
            for key, value in DATA.items():
                admin.put_parameter(Name=f"{path}/{key}", Value=value, Type="SecureString")
        yield moto.params("reader", proxy.url), paths, lambda: len(proxy.requests)


STORES = {
    "vault": ("vault", vault),
    "aws-secretsmanager": ("aws-secretsmanager", secrets_manager),
    "aws-secretsmanager, whole": ("aws-secretsmanager", secrets_manager_whole),
    "aws-ssm": ("aws-ssm", parameter_store),
    "gcp-secretmanager": ("gcp-secretmanager", gcp),
    "azure-keyvault": ("azure-keyvault", azure),
    "kubernetes": ("kubernetes", kubernetes),
    "databricks": ("databricks", databricks),
}
CLIENTS = {
    "sparkconfig alone": "sparkconfig",
    "vault": "hvac",
    "aws": "boto3",
    "gcp": "google.cloud.secretmanager_v1",
    "azure": "azure.keyvault.secrets, azure.identity",
    "kubernetes": "kubernetes.client, kubernetes.config, kubernetes.watch",
    "databricks": "databricks.sdk",
}


def measure(alias: str, make: Callable) -> dict[str, float]:
    """Return calls and milliseconds of a cold and a warm round."""
    with tempfile.TemporaryDirectory() as name, make(Path(name)) as (params, paths, calls):
        confs = {f"{path} {key}": f"${{p:{path}:{key}}}" for path in paths for key in DATA}
        provider = find_class(alias)()
        found: dict[str, float] = {}
        transformer = ConfigTransformer({"p": provider}, timeout_ms=120_000)
        for turn in ("cold", "warm"):
            before, start = calls(), time.perf_counter()
            if turn == "cold":
                provider.configure({**params, "timeout": "60s"})
            answer = transformer.transform(confs).reveal()
            found[f"{turn}_ms"] = round((time.perf_counter() - start) * 1000, 1)
            found[f"{turn}_calls"] = calls() - before
            assert len(answer) == PATHS * KEYS
            assert all(answer[f"{path} {key}"] == value for path in paths for key, value in DATA.items())
        transformer.close()
        provider.close()
        return found


def import_ms(module: str) -> float:
    """Return the best of five imports in new processes, less the start of Python."""
    code = f"import time; start = time.perf_counter(); import {module}; print((time.perf_counter() - start) * 1000)"
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    runs = [
        subprocess.run(
            [sys.executable, "-c", code], check=True, capture_output=True, text=True, env=environment
        )
        for _ in range(5)
    ]
    return round(min(float(run.stdout) for run in runs), 1)


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--json", type=Path)
    options.add_argument("--only", default="")
    given = options.parse_args()
    chosen = [name for name in STORES if not given.only or name in given.only.split(",")]
    print(f"{'store':28}{'cold calls':>12}{'cold ms':>10}{'warm calls':>12}{'warm ms':>10}")
    results: dict[str, object] = {}
    for name in chosen:
        found = measure(*STORES[name])
        results[name] = found
        print(
            f"{name:28}{found['cold_calls']:>12.0f}{found['cold_ms']:>10}"
            f"{found['warm_calls']:>12.0f}{found['warm_ms']:>10}",
            flush=True,
        )
    if not given.only:
        print(f"\n{'import':28}{'ms':>12}")
        results["import_ms"] = {name: import_ms(module) for name, module in CLIENTS.items()}
        for name, took in results["import_ms"].items():
            print(f"{name:28}{took:>12}")
    if given.json:
        given.json.write_text(json.dumps(results, indent=2))


if __name__ == "__main__":
    main()
