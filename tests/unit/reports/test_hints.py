"""What errors and warnings advise for references in other forms, for addresses, and for values that are odd."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sparkconfig.checks.doctor import diagnose
from sparkconfig.errors import ConfigurationError
from sparkconfig.language.references import scan
from sparkconfig.providers.registry import find_class
from sparkconfig.resolution import messages, odd_values
from unit.reports.test_confs import BEGIN, ENVVAR, report_of


@pytest.mark.parametrize(
    ("content", "key", "said"),
    [
        ('{"db": {"pw": "o-1", "user": "o-2"}}', "db", "store:PATH:db.pw}: db.pw, db.user"),
        ('{"db": {"x": {"pw": "o-1"}}}', "db.x", "store:PATH:db.x.pw}: db.x.pw"),
        ('{"hosts": ["o-1", "o-2"]}', "hosts", "store:PATH:hosts.0}: hosts.0, hosts.1"),
        ('{"db": {"pw": "o-1"}}', "d", "has no key 'd'"),
        ('{"db": {}}', "db", "has no key 'db'"),
        (
            str({f"f{n}": "o-1" for n in range(9)}).join(('{"db": ', "}")).replace("'", '"'),
            "db",
            "db.f7, ...",
        ),
    ],
)
def test_vault_path_hints_of_objects(tmp_path: Path, content: str, key: str, said: str) -> None:
    """A key that names an object: its fields' names, never values."""
    path = tmp_path / "store.json"
    path.write_text(content)
    text = f"{BEGIN}spark.config.providers.store.class file\nspark.x.password ${{store:{path}:{key}}}\n"
    (problem,) = report_of(tmp_path, text).problems
    assert said.replace("PATH", str(path)) in problem
    assert "o-1" not in problem


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("${s:/run/x.json}", "the key is missing: write ${s:/run/x.json:KEY}"),
        (
            "${s:/run/shop/password}",
            "write ${s:/run/shop:password}, or ${s:/run/shop/password:KEY} if the key is missing",
        ),
        ("${s:/shop}", "the key is missing: write ${s:/shop:KEY}"),
        ("${s:shop/prod/}", "the key is missing: write ${s:shop/prod:KEY}"),
        ("${s:shop/prod:}", "the key is missing: write ${s:shop/prod:KEY}"),
        ("${s:secret/data/shop#pw}", "not '#': write ${s:secret/data/shop:pw}"),
        ("${s:/run/x.json#pw}", "not '#': write ${s:/run/x.json:pw}"),
        ("${s:shop/prod#pw}", "not '#': write ${s:shop/prod:pw}"),
        ("${s:shop/prod}", "write ${s:shop:prod}, or ${s:shop/prod:KEY} if the key is missing"),
        ("${s: HOME}", "write ${s:HOME}"),
        ("${s:a/b : pw }", "write ${s:a/b:pw}"),
        ("${s:HOME}", ""),
        ("${s:shop/prod:pw}", ""),
        ("${s:shop/prod:a.b.0}", ""),
    ],
)
def test_vault_path_hints_of_a_missing_key(text: str, said: str) -> None:
    assert messages.missing_colon(*scan(text)).endswith(said)
    assert bool(said) is bool(messages.missing_colon(*scan(text)))


ARN = "arn:aws:secretsmanager:eu-central-1:111122223333:secret:shop/db-Ab12Cd"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"${{aws:{ARN}}}", f"write ${{aws:shop/db:KEY}}, or ${{aws::{ARN}}} for the whole value"),
        (
            f"${{aws:{ARN}:password}}",
            f"write ${{aws:shop/db:password}}, or ${{aws::{ARN}}} for the whole value",
        ),
        (
            f"${{aws::{ARN}:password}}",
            f"write ${{aws:shop/db:password}}, or ${{aws::{ARN}}} for the whole value",
        ),
        (
            f"${{aws:{ARN}#password}}",
            f"write ${{aws:shop/db:password}}, or ${{aws::{ARN}}} for the whole value",
        ),
        (
            f"${{aws:{ARN}:password:AWSCURRENT:}}",
            f"write ${{aws:shop/db:password}}, or ${{aws::{ARN}}} for the whole value",
        ),
        ("${ssm:arn:aws-cn:ssm:cn-north-1:1:parameter/shop/pw}", "write ${ssm:/shop:pw}"),
        ("${aws:arn:nonsense}", "write the name in its place"),
        (f"${{aws::{ARN}}}", ""),
    ],
)
def test_vault_path_hints_of_an_arn(text: str, said: str) -> None:
    (found,) = scan(text)
    hint = messages.missing_colon(found)
    assert hint.endswith(said)
    assert bool(hint) is bool(said)
    # What is advised is not the fault itself, and is read as it is meant.
    for advised in re.findall(r"\$\{[^}]*\}", hint):
        assert advised != text
        assert messages.missing_colon(*scan(advised)) == ""


@pytest.mark.parametrize(
    "text",
    [
        "${s:a}",
        "${s::a}",
        "${s:a:b}",
        "${s::a:b}",
        "${s:a:b:c}",
        f"${{s::{ARN}}}",
        "${s::shop/token}",
        "${s::}",
    ],
)
def test_a_reference_is_shown_as_it_is_written(text: str) -> None:
    assert messages.written(*scan(text)) == text


@pytest.mark.parametrize(
    ("text", "odd"),
    [
        ("${nowhere:a:b", True), ("x ${nowhere:a:b", True), ("${DB_PASSWORD", True), ("${store:HOME", True),
        ("jdbc:x://h/d?password=${gone:a/b:c", True), ("a${b", False), ("pa$${w0rd", False),
        ("$(DB_PASSWORD", True), ("{{ password", True), ("{{ password }", True), ("${store:HOME)", True),
        ("pre-${X", True),
    ],
)  # fmt: skip
def test_an_unclosed_reference(tmp_path: Path, text: str, odd: bool) -> None:
    said = report_of(tmp_path, f"{ENVVAR}spark.x.password {text}\n").warnings
    assert any("clos" in each for each in said) is odd


@pytest.mark.parametrize("text", ["${DB_PASSWORD", "$(DB_PASSWORD", "{{ password", "x-${DB_PASSWORD"])
def test_an_unclosed_variable_in_a_url(tmp_path: Path, text: str) -> None:
    for url in ("jdbc:x://h/d?password={}&x=1", "jdbc:x://h/d?x=1&password={}", "jdbc:x://u:{}@h/d"):
        if " " in text and "@" in url:
            continue  # a blank ends an address
        (said,) = report_of(tmp_path, f"{ENVVAR}spark.x.url {url.format(text)}\n").warnings
        assert "without its closing bracket" in said


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("$${store:HOME}", "nothing is escaped"), ("\\\\${store:HOME}", "nothing is escaped"),
        ("${store:HOME}}", "what follows the reference"), ("#{store:HOME}", "write ${store:PATH:KEY}"),
        ("%{store:HOME}", "write ${store:PATH:KEY}"), ("@{store:a:b}", "write ${store:PATH:KEY}"),
        ("$ {store:HOME}", "write ${store:PATH:KEY}"), ("{store:a:b}", "write ${store:PATH:KEY}"),
        ("$store:a:b", "write ${store:PATH:KEY}"), ("x$(store:a:b)", "write ${store:PATH:KEY}"),
    ],
)  # fmt: skip
def test_signs_around_a_reference(tmp_path: Path, text: str, meant: str) -> None:
    assert any(meant in each for each in report_of(tmp_path, f"{ENVVAR}spark.x.password {text}\n").warnings)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\n\n", "\r\n\r\n"])
def test_newline_no_hint(tmp_path: Path, end: str) -> None:
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "password").write_bytes(b"shop-pw-7731" + end.encode())
    reference = f"${{store:{tmp_path}/store:password}}"
    text = f"{BEGIN}spark.config.providers.store.class directory\nspark.x.password {reference}\n"
    (said,) = report_of(tmp_path, text).warnings
    assert any("ends with a line end" in each.found for each in diagnose([tmp_path / "job.conf"]).findings), (
        "doctor says it, too"
    )
    assert "ends with a line end" in said
    assert "strip.newline=true" in said
    (tmp_path / "store" / "password").write_text("-----BEGIN X-----\nabc\n-----END X-----\n")
    assert report_of(tmp_path, text).warnings == []


URLS = {
    "jdbc:postgresql://h/d?user=a&password={}": "a+b$$c9 !Pn@(he24&)O 1%%25pc%41",
    "jdbc:postgresql://h/d?password={}&user=a": "a+b",
    "mongodb://u:{}@h/d": "a/b a@b a:b 1%41 a?b a#b",
    "https://u:{}@h/x?y=z": "a/b",
    "jdbc:sqlserver://h;user=a;password={};encrypt=true": "a;b a{b a}b",
    "jdbc:oracle:thin:u/{}@h:1521/x": "a@b a/b",
    'jdbc:oracle:thin:u/"{}"@h:1521/x': 'a"b',
}
PLAIN = {
    "jdbc:postgresql://h/d?user=a&password={}": "a#b^c?d a/b a;b",
    "mongodb://u:{}@h/d": "a&b a;b a+b",
    "jdbc:sqlserver://h;user=a;password={};encrypt=true": "a&b 1%41 a+b==",
    "Endpoint=sb://h/;SharedAccessKeyName=a;SharedAccessKey={}": "a+b/c==",
    "jdbc:oracle:thin:u/{}@h:1521/x": "a&b%c",
    "{}": "a&b%c+d/e@f;g",
    "u:{}": "a&b",
}


@pytest.mark.parametrize(
    ("text", "value", "odd"),
    [
        (text, value, table is URLS)
        for table in (URLS, PLAIN)
        for text, values in table.items()
        for value in values.split()
    ],
)
def test_url_encoding_no_hint(
    tmp_path: Path, text: str, value: str, odd: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOP_PW", value)
    report = report_of(
        tmp_path,
        f"{ENVVAR}spark.x.url {text.format('${store:SHOP_PW}')}\nspark.x.password ${{store:SHOP_PW}}\n",
    )
    assert sum("a URL must escape" in each for each in report.warnings) == odd
    assert (value in str(report)) is False


@pytest.mark.parametrize("value", [" qz-1", "qz-1 ", "\tqz-1", "qz-1\u00a0", "\nqz-1"])
def test_white_space_around_a_value_is_said(
    tmp_path: Path, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOP_PW", value)
    (said,) = report_of(tmp_path, f"{ENVVAR}spark.x.password ${{store:SHOP_PW}}\n").warnings
    assert "begins or ends with white space" in said
    assert "qz" not in said


@pytest.mark.parametrize(
    ("text", "value", "odd"),
    [
        ("${s:a:b}", "qz-1\n", 1), ("jdbc:x://h?p=${s:a:b}&u=a", "jdbc:x://h?p=qz+1&u=a", 1), ("${s:a:b}", "qz+1", 0),
        ("${s:a:b}${s:a:c}", "qz-1\n", 0), ("jdbc:x://h?p=${s:a:b}", "jdbc:x://h?p=qz%1\n", 2),
    ],
)  # fmt: skip
def test_the_log_of_a_start_says_it(text: str, value: str, odd: int) -> None:
    said = list(odd_values.of_conf("spark.x", text, value))
    assert len(said) == odd
    assert "qz" not in "".join(said)


@pytest.mark.parametrize(
    ("alias", "param", "others"),
    [
        ("vault", "address", {"token": "t-1"}),
        ("aws-secretsmanager", "endpoint.url", {"region": "eu-central-1"}),
        ("aws-ssm", "endpoint.url", {"region": "eu-central-1"}),
        ("azure-keyvault", "vault.url", {}),
        ("http", "url", {}),
        ("oauth2", "token.url", {"client.id": "c", "client.secret": "s-1"}),
    ],
)
@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1:1",
        "store.example.org",
        "//store",
        "htp://store",
        "http:/store",
        "https://",
        "http://st ore",
        "http://store:82000",
        "http://store:0",
        "http://store:port",
        '"http://store"',
        "http://:8200",
    ],
)
def test_an_address_without_http_is_no_outage(
    alias: str, param: str, others: dict[str, str], address: str
) -> None:
    provider = find_class(alias)()
    with pytest.raises(ConfigurationError, match=param.replace(".", "[.]")):
        provider.configure({param: address, **others})
    provider.close()
