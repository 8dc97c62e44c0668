"""``sparkconfig doctor`` on files that the driver would serve to anybody who asks."""

import shutil
from pathlib import Path

import pytest

from sparkconfig.checks.doctor import Level
from unit.checks.doctor.helpers import errors, found

PROTECTED = "spark.master spark://h:7077\nspark.authenticate true\nspark.network.crypto.enabled true"
KEY = "aZ09" * 10 + "abc=\n"
PEM = "-----BEGIN RSA PRIVATE KEY-----"
SHIPPED = {
    "a provider's key file": ("seal.key", 0o644, "the provider's", "a file that a provider opens"),
    "a keystore": ("client.p12", 0o644, "x", "a keystore"),
    "a keystore in capitals": ("CLIENT.JKS", 0o644, "x", "a keystore"),
    "a keytab": ("shop.keytab", 0o640, "x", "a keystore"),
    "a file for its owner": ("login.properties", 0o600, "x", "for its owner alone"),
    "a file that may only be read": ("login.txt", 0o400, "x", "for its owner alone"),
    "a private key": ("client.pem", 0o644, PEM, "a private key"),
    "a key of sealed files": ("k", 0o644, KEY, "a key of sealed files"),
    "a keystore of another suffix": ("client.pkcs12", 0o644, "x", "a keystore"),
    "a key of no known content": ("client.pk8", 0o644, "x", "a keystore"),
    "certificates and keys": ("truststore-and-keystore.jks", 0o644, "x", "a keystore"),
    "a store of Java with a key": ("trusted.bin", 0o644, f"\xfe\xed\xfe\xed{'-' * 8}\0\0\0\1", "a keystore"),
    "PKCS 12": ("a.bin", 0o644, "\x30\x82\x04\xa3\x02\x01\x03\x30", "a private key"),
    "PKCS 8": ("a.bin", 0o644, "\x30\x82\x04\xa3\x02\x01\x00\x30", "a private key"),
    "PKCS 1": ("a.bin", 0o644, "\x30\x82\x04\xa3\x02\x01\x00\x02", "a private key"),
    "a key of PuTTY": ("a.txt", 0o644, "PuTTY-User-Key-File-3: x", "a private key"),
    "a key behind a certificate": (
        "chain.pem",
        0o644,
        f"-----BEGIN CERTIFICATE-----\n{PEM}",
        "a private key",
    ),
}
WRITTEN = ("{}", "file://{}", "file:{}", "/none.txt, {}", "{}#alias", "{}#a#b", "{folder}", "{folder}/*", "{above}/*/*",
           "{folder}/link", "{relative}", "{folder}/../keys")  # fmt: skip
KEYS = ("spark.files", "spark.archives", "spark.jars", "spark.submit.pyFiles", "spark.yarn.dist.files",
        "spark.yarn.dist.archives", "spark.yarn.dist.jars")  # fmt: skip
MASTERS = ("spark.master yarn", "spark.master k8s://https://h", "spark.master local-cluster[1,1,700]", "")


def ship(examine, confs):
    own = "spark.config.providers sealed\nspark.config.providers.sealed.param.key.file {}/keys/seal.key"
    return errors(examine(f"{PROTECTED}\n{own.format(Path.cwd())}\n{confs}")).get("shipped files", "")


@pytest.fixture
def keys(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "keys").mkdir()
    return tmp_path / "keys"


def put(path, mode, content):
    if content is not None:
        path.write_bytes(content.encode("latin-1"))
    path.chmod(mode)
    return path


@pytest.mark.parametrize(("kind", "written", "key"), [
    *((kind, "{}", "spark.files") for kind in SHIPPED),
    *(("a private key", written, "spark.files") for written in WRITTEN),
    *(("a private key", "{}", key) for key in KEYS),
])  # fmt: skip
def test_a_file_that_the_driver_would_serve_to_anybody(examine, keys, kind, written, key):
    file = put(keys / SHIPPED[kind][0], *SHIPPED[kind][1:3])
    (keys / "link").symlink_to(file)
    text = written.format(file, folder=keys, above=keys.parent, relative=f"keys/{file.name}")
    for master in MASTERS if written == "{}" else MASTERS[:1]:
        assert SHIPPED[kind][3] in ship(examine, f"{master}\n{key} {text}"), master
    accepted = examine(f"{PROTECTED}\n{key} {file}\nspark.config.rpc.insecure true")
    assert kind == "a provider's key file" or found(accepted, "shipped files", Level.WARNING)


@pytest.mark.parametrize("kind", [name for name in SHIPPED if "owner" not in name and "read" not in name])
@pytest.mark.parametrize("form", ["zip", "tar", "gztar", "xztar"])
def test_an_archive_with_a_key_in_it(examine, keys, form, kind):
    name, _, content, why = SHIPPED[kind]
    (keys.parent / "packed" / "conf").mkdir(parents=True)
    put(keys / "seal.key", 0o600, SHIPPED["a provider's key file"][2])
    put(keys.parent / "packed" / "conf" / name, 0o644, content)
    packed = put(Path(shutil.make_archive("rows", form, "packed")), 0o644, None)
    for key in ("spark.archives", "spark.jars", "spark.files"):
        assert why in ship(examine, f"{key} {packed}#env"), key


@pytest.mark.parametrize("reference", ["${f:%s/shop.properties:pw}", "${d:%s:shop.properties}"])
def test_a_file_that_a_reference_reads(examine, keys, reference):
    file = put(keys / "shop.properties", 0o644, "pw=x\n")
    confs = f"spark.shop.password {reference % keys}\nspark.files {file}"
    assert "a file that a provider opens" in ship(examine, confs)


def test_what_everybody_may_have_is_shipped(examine, keys):
    library = keys / "lib" / "site-packages" / "tornado" / "test"
    library.mkdir(parents=True)
    put(library / "test.key", 0o644, PEM)
    packed = put(Path(shutil.make_archive("venv", "gztar", "keys")), 0o644, None)
    rows, code = put(keys / "rows.csv", 0o644, "x"), put(keys / "job.py", 0o600, "x = 1")
    trusted, store = put(keys / "client.truststore.jks", 0o644, "x"), put(keys / "a.p12", 0o644, "x")
    for master in ("local", "local[2]"):  # Spark's file server has only jars then
        assert ship(examine, f"spark.master {master}\nspark.files {store}\nspark.archives {store}") == ""
        assert "a keystore" in ship(examine, f"spark.master {master}\nspark.jars {store}")
    assert ship(examine, f"spark.files {rows},hdfs://n/a.p12,local:/a.p12,{trusted},{keys}/none*") == ""
    assert ship(examine, f"spark.archives {packed}#venv\nspark.submit.pyFiles {code}") == ""
