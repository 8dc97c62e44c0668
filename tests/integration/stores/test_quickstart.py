"""docs/quickstart.md as somebody follows it: its commands, its properties and ``resolve --dry-run``, on servers.

The servers are those that can be had: OpenBao, moto, kmock. Addresses and paths of the page are replaced by theirs.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from support.fakes.moto_server import moto_server

VALUE = "quickstart-canary-41c7-value"
PAGE = (Path(__file__).resolve().parents[3] / "docs" / "quickstart.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", PAGE, re.DOTALL | re.MULTILINE))
#: What is installed already where the tests run, and what needs Spark.
LEFT_OUT = re.compile(r"pip install |spark-submit ")


def commands(text: str) -> list[str]:
    blocks = "".join(re.findall(r"```console\n(.*?)```", text, re.DOTALL))
    return [line for line in re.findall(r"^\$ (.*)", blocks, re.MULTILINE) if not LEFT_OUT.match(line)]


def follow(
    section: str, folder: Path, replaced: dict[str, str], number: int = 0, more: str = "", **environ: str
) -> None:
    """Run the commands of a section, write its ``job.conf``, and ask for the reference without Spark."""
    text = SECTIONS[section]
    conf = re.findall(r"```properties\n(.*?)```", text, re.DOTALL)[number]
    for old, new in {**replaced, "/etc/shop": str(folder)}.items():
        assert old == "/etc/shop" or old in conf, f"the page does not say {old} any more"
        conf = conf.replace(old, new)
    (folder / "job.conf").write_text(conf + more)
    path = os.pathsep.join([str(folder / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]])
    asked = commands(PAGE.split("\n## ")[0])
    assert asked == ["sparkconfig resolve --dry-run job.conf"]
    for command in [*commands(text), *asked]:
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", command],
            cwd=folder, input=VALUE, capture_output=True, text=True, timeout=120, check=False,
            env={**os.environ, "PATH": path, **environ},
        )  # fmt: skip
        shown = done.stdout + done.stderr
        assert shown.count(VALUE) == 0, "a value was printed"
        assert done.returncode == 0, f"{command}: {shown[-2000:]}"
    assert re.search(r"^spark\.shop\.password .* ok$", done.stdout, re.MULTILINE), done.stdout


def test_a_sealed_file(tmp_path: Path) -> None:
    follow("A sealed file", tmp_path, {})


def test_openbao(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    from support.openbao import _program
    from support.real_vault import RealVault

    vault = RealVault.of(request)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "vault").symlink_to(_program())
    rule = 'path "secret/data/shop/prod" { capabilities = ["read"] }'
    vault.call("PUT", "sys/policies/acl/quickstart", {"policy": rule})
    vault.call("POST", "sys/auth/approle", {"type": "approle"}, may_fail=True)
    vault.call("POST", "auth/approle/role/quickstart", {"token_policies": "quickstart"})
    vault.call("POST", "auth/approle/role/quickstart/role-id", {"role_id": "shop"})
    answer = vault.call("POST", "auth/approle/role/quickstart/secret-id", {})
    secret_id = tmp_path / "secret-id"
    secret_id.touch(0o600)
    secret_id.write_text(answer["data"]["secret_id"])
    admin = {"VAULT_ADDR": vault.url, "VAULT_TOKEN": vault._admin, "HOME": str(tmp_path)}
    follow("HashiCorp Vault, OpenBao", tmp_path, {"https://vault.example.org:8200": vault.url}, **admin)


def test_aws(tmp_path: Path) -> None:
    with moto_server() as moto:
        import boto3

        keys = moto.keys["admin"]
        client = boto3.client(
            "secretsmanager", endpoint_url=moto.url, region_name="eu-central-1",
            aws_access_key_id=keys["access.key.id"], aws_secret_access_key=keys["secret.access.key"],
        )  # fmt: skip
        client.create_secret(Name="shop/prod", SecretString=json.dumps({"password": VALUE}))
        reader = moto.keys["reader"]
        follow(
            "AWS Secrets Manager", tmp_path, {}, AWS_ENDPOINT_URL=moto.url,
            AWS_ACCESS_KEY_ID=reader["access.key.id"], AWS_SECRET_ACCESS_KEY=reader["secret.access.key"],
        )  # fmt: skip


def test_a_mounted_secret_of_kubernetes(tmp_path: Path) -> None:
    (tmp_path / "password").write_text(VALUE)
    follow("Kubernetes", tmp_path, {})


@pytest.mark.skipif(sys.version_info < (3, 11), reason="kmock needs Python 3.11")
def test_the_api_of_kubernetes(tmp_path: Path) -> None:
    from support.kubernetes_api import KmockCluster

    with KmockCluster() as cluster:
        cluster.put("shop", "shop-db", {"password": VALUE})
        (tmp_path / "config").write_text(
            "apiVersion: v1\nkind: Config\ncurrent-context: a\nusers: [{name: a, user: {token: x}}]\n"
            "contexts: [{name: a, context: {cluster: a, user: a}}]\n"
            f"clusters: [{{name: a, cluster: {{server: '{cluster.url}'}}}}]\n"
        )
        # A pod has its own account; here a kubeconfig names the server.
        kubeconfig = f"spark.config.providers.k8s.param.kubeconfig {tmp_path}/config\n"
        follow("Kubernetes", tmp_path, {}, number=1, more=kubeconfig)


def test_every_section_runs_here_or_says_that_it_did_not() -> None:
    run = {"A sealed file", "HashiCorp Vault, OpenBao", "AWS Secrets Manager", "Kubernetes"}
    assert run <= SECTIONS.keys()
    said = {name for name, text in SECTIONS.items() if "never run on" in text}
    assert run | said == SECTIONS.keys()
    assert not run & said
