"""moto's server in a process of its own, with its IAM enforcement on, and users with different rights."""

import json
import os
import re
import subprocess
import sys
import threading
import urllib.request
from contextlib import contextmanager
from dataclasses import dataclass

import boto3

REGION = "eu-west-1"
#: See `Moto.make_role`.
ROLE = "arn:aws:iam::123456789012:role/spark"
#: moto checks signatures as botocore makes them, and leaves out a header that Amazon's first SDK for Java signs.
#: And where AWSCURRENT moves to another version, Amazon's server answers with that one.
_SERVER = """
import sys, botocore.auth, moto.server
from moto.secretsmanager.models import SecretsManagerBackend as Backend

botocore.auth.SIGNED_HEADERS_BLACKLIST.remove("user-agent")
move_label = Backend.update_secret_version_stage

def move_label_and_value(self, secret_id, version_stage, remove_from_version_id, move_to_version_id):
    answer = move_label(self, secret_id, version_stage, remove_from_version_id, move_to_version_id)
    if version_stage == "AWSCURRENT":
        self.secrets[secret_id].set_default_version_id(move_to_version_id)
    return answer

Backend.update_secret_version_stage = move_label_and_value
moto.server.main(sys.argv[1:])
"""
_READ = [
    "secretsmanager:GetSecretValue",
    "ssm:GetParameter",
    "ssm:GetParameters",
    "ssm:GetParametersByPath",
    "sts:AssumeRole",
]
_POLICIES = {
    "admin": ["*"],
    "reader": [*_READ, "secretsmanager:BatchGetSecretValue"],
    "single-reader": _READ,
    # What docs/migrate.md says that a migration needs.
    "migrator": [
        "secretsmanager:GetSecretValue",
        "secretsmanager:CreateSecret",
        "secretsmanager:PutSecretValue",
        "secretsmanager:UpdateSecretVersionStage",
    ],
    "nobody": ["s3:ListAllMyBuckets"],
}


@dataclass(frozen=True)
class Moto:
    url: str
    keys: dict
    """User name to the params access.key.id and secret.access.key."""

    def client(self, service):
        keys = self.keys["admin"]
        return boto3.client(
            service,
            endpoint_url=self.url,
            region_name=REGION,
            aws_access_key_id=keys["access.key.id"],
            aws_secret_access_key=keys["secret.access.key"],
        )

    def params(self, user, url=None):
        return {"endpoint.url": url or self.url, "region": REGION, **self.keys[user]}

    def make_user(self, name, actions):
        """A user without keys, who may do this to everything."""
        rights = {
            "Version": "2012-10-17",
            "Statement": [{"Effect": "Allow", "Action": actions, "Resource": "*"}],
        }
        iam = self.client("iam")
        iam.create_user(UserName=name)
        iam.put_user_policy(UserName=name, PolicyName="rights", PolicyDocument=json.dumps(rights))

    def make_role(self, name):
        """A role that everybody may assume, and that may read."""
        statement = {"Effect": "Allow", "Action": "sts:AssumeRole*", "Principal": {"AWS": "*"}}
        trust = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
        statement = {"Effect": "Allow", "Action": _READ, "Resource": "*"}
        rights = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
        iam = self.client("iam")
        iam.create_role(RoleName=name, AssumeRolePolicyDocument=trust)
        iam.put_role_policy(RoleName=name, PolicyName="rights", PolicyDocument=rights)

    def reset_auth(self, free_calls):
        """Let this many calls pass unchecked from now on."""
        body, headers = str(free_calls).encode(), {"Content-Type": "text/plain"}
        request = urllib.request.Request(f"{self.url}/moto-api/reset-auth", body, headers)
        urllib.request.urlopen(request).close()


@contextmanager
def moto_server():
    command = [sys.executable, "-c", _SERVER, "-H", "127.0.0.1", "-p", "0"]
    environment = {**os.environ, "PYTHONWARNINGS": "ignore"}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as process:
        try:
            port = next(
                found[1] for line in process.stderr if (found := re.search(r"http://127.0.0.1:(\d+)", line))
            )
            threading.Thread(
                target=process.stderr.read, daemon=True
            ).start()  # a full pipe would stop the server
            moto = Moto(f"http://localhost:{port}", {})
            moto.keys["admin"] = {"access.key.id": "any", "secret.access.key": "any"}
            _make_users(moto)
            moto.reset_auth(0)
            yield moto
        finally:
            process.terminate()


def _make_users(moto):
    iam = moto.client("iam")
    for user, actions in _POLICIES.items():
        moto.make_user(user, actions)
        made = iam.create_access_key(UserName=user)["AccessKey"]
        moto.keys[user] = {"access.key.id": made["AccessKeyId"], "secret.access.key": made["SecretAccessKey"]}
    moto.make_role("spark")
