"""What stands in for a value is no secret in clear, and no value to seal; who wrote it is told what to write."""

from __future__ import annotations

import random
import string

import pytest

from sparkconfig.detection import literals
from sparkconfig.settings import conf_warnings
from sparkconfig.settings.placeholders import is_placeholder, unfilled

KEY = "spark.hadoop.fs.s3a.secret.key"

VARIABLES = {
    "$env:DB_PASSWORD": "DB_PASSWORD", "${PW:?required}": "PW", "${PW:-}": "PW", "$PW_A/$PW_B": "PW_A",
    "${DB_PASSWORD}": "DB_PASSWORD",
    "$DB_PASSWORD": "DB_PASSWORD",
    "$(PASSWORD)": "PASSWORD",
    '"${DB_PASSWORD}"': "DB_PASSWORD",
    "'$AWS_KEY'": "AWS_KEY",
    " $AWS_SECRET_ACCESS_KEY ": "AWS_SECRET_ACCESS_KEY",
    "${db_password}": "db_password",
    "$db_password": "db_password", "$dbPassword": "dbPassword", "$password": "password", "$X": "X", "$$X": "X",
    "${env:X}": "X", "$(X)-suffix": "X", "prefix-${X}": "X", "pre$DB_PASSWORD": "DB_PASSWORD",
    "${A}${B}": "A", "${X}-$(Y)": "X", "$${X}": "X", "warnings-canary-31f0-${X}": "X",
}  # fmt: skip
TEMPLATES = (
    "$[variables.pw]", "%{ if x }", "@{activity('x').output}", "@pipeline().parameters.pw", "SET_ME", "set_in_ci",
    "to_be_replaced", "ADD_YOUR_KEY_HERE", "!secret db_password", "!Ref DBPassword", "env:DB_PASSWORD", "secret://x",
    "System.getenv('PW')", "{cipher}abcdef", "ENC[AES256_GCM,data:abc]", "projects/p/secrets/x/versions/latest",
    "{{ db_password }}", "{{.Values.password}}", "{% raw %}x{% endraw %}", "${{ secrets.DB_PASSWORD }}", "%%TOKEN%%",
    "%PASSWORD%", "__PASSWORD__", "<password>", "<your-key-here>", "<%= ENV['PW'] %>", "@PASSWORD@", "@db.password@",
    "#{DbPassword}#", "#{DbPassword}", "%(password)s", "((db/password))", "[[ password ]]", "[password]",
    "~PASSWORD~",
    "{X}", "{db_password}", "##X##", "!X!", "%{X}", "%s", "{}", "{0}", "?", ":password", "$1", "%env(DB_PASSWORD)%",
    "@@X@@", "${?DB_PW}", "${ DB_PW }", "${1}",
    "a-{{ x }}", "{{ a }}-{{ b }}", "<user>-suffix", "x/%DB_PW%", "pre.##X##", "pre-!DB_PW!", "[% pw %]",
    "$(cat /run/pw)", "`cat /pw`",
    "REPLACE_ME", "changeme", "CHANGE_ME", "ChangeMe!", "TODO", "todo: set", "FIXME", "YOUR_SECRET_KEY",
    "your-aws-access-key",
    "yourpassword", "insert-token-here", "replace with real password", "<<password>>", "PLACEHOLDER",
    "enter_your_password",
    "op://vault/item/field", "ref+vault://a/b#/c", "vault:secret/data/x#pw", "ENC(abc)",
    "@Microsoft.KeyVault(SecretUri=x)",
)  # fmt: skip
DATABRICKS = ("{{secrets/scope/key}}", "{{ secrets/scope/key }}", '"{{secrets/shop/db-password}}"')
MASKS = ("*****", "*********(redacted)", "xxxxxx", "####")
SECRETS = (
    "change", "set", "[abc]", "~tilde~", "{SSHA}abc==", "!Important!", "x$[ABC]y",
    "$ecret-Horse9", "$uper", "P%ss%word1", "a__b__c", "<3Horses>x", "{{{", "p@ss@word9", "((x", "%41%42%43-x9",
    "{secret9}", "__init9", "$$money9", "$1horse", "100%sure9", "change9me", "todos-los-dias", "youth", "replaced",
    "a%C3%B6b", "$Summer_2024", "abc/def+$Ghost_2024/zz", "i$KM_HPO0Fs2Lnl1z2v@", "@Home2024@", "!Admin_2024!",
    "<Winter2024>", "vaultKeeper#2024", "rb9Grxrt_if&YEswmUWzv?$O",
    "P$ssword", "x!Horse!", "Horse#9#Horse", "xK7$ABCd", "{a;b}", "ab<cd>ef", "w@rd@x", "a~b~c", "secret",
    "changeit", "xX%AB%CD",
)  # fmt: skip


@pytest.mark.parametrize("text", [*VARIABLES, *TEMPLATES, *DATABRICKS, *MASKS])
def test_a_placeholder_is_no_secret_to_anybody(text):
    assert is_placeholder(text)
    assert conf_warnings.in_clear({KEY: text, "spark.shop.password": text}) == []
    assert literals.find(KEY, text) == []
    if (
        not set(text) & set(";&")
        and "('" not in text
        and (" " not in text or text.startswith(("{", "<", "$")))
    ):
        for inside in (f"jdbc:x://db/shop?user=a&password={text}", f"-Dx=y -Dx.keyStorePassword={text}"):
            assert conf_warnings.in_clear({"spark.shop.url": inside}) == []
            assert literals.find("spark.shop.url", inside) == []
            assert (text in (*MASKS, "?", ":password", "$1")) is not bool(
                conf_warnings.not_filled_in("spark.shop.url", inside)
            )


@pytest.mark.parametrize("text", SECRETS)
def test_what_only_resembles_one_is_a_secret(text):
    assert not is_placeholder(text)
    assert conf_warnings.in_clear({KEY: text}) == [KEY]
    assert unfilled(text) is None


@pytest.mark.parametrize("text", VARIABLES)
def test_a_variable_that_nothing_expands_is_named(text):
    (said,) = conf_warnings.mistakes({KEY: text}, ())
    assert said.startswith(f"{KEY}: nothing expands ")
    assert f"${{envvar:{VARIABLES[text]}}}" in said


@pytest.mark.parametrize(
    "text",
    ["${sys:pw}", "${env:DB_PW:-x}", "${date:yyyy}", "${java:version}", "abc-${ctx:x}", "${hivevar:pw}", "${web:x}",
     "${env.DB_PW:-x}"],
)  # fmt: skip
@pytest.mark.parametrize("inside", ["{}", "jdbc:x://h?user=a&password={}"])
def test_what_another_tool_would_expand_is_said(text, inside):
    (said,) = conf_warnings.mistakes({"spark.shop.password": inside.format(text)}, ())
    assert said.startswith("spark.shop.password: nothing expands ${")
    assert list(conf_warnings.mistakes({"spark.shop.password": "${store:DB_PW:-x}"}, ["store"])) == []


@pytest.mark.parametrize(
    "text", ["{{ lookup('env', 'x', password=x) }}", "a-{{ f(token='abc') }}", "<% pw(secret=x) %>"]
)
def test_a_template_is_not_a_secret_in_clear_at_the_same_time(text):
    assert conf_warnings.in_clear({KEY: text, "spark.shop.url": f"jdbc:x?password={text}"}) == []
    assert len(list(conf_warnings.mistakes({KEY: text}, ()))) == 1


@pytest.mark.parametrize("text", TEMPLATES)
def test_a_template_that_nothing_has_filled_in_is_said(text):
    (said,) = conf_warnings.mistakes({KEY: text}, ())
    assert "nothing has filled in" in said


@pytest.mark.parametrize("text", DATABRICKS)
def test_what_databricks_alone_expands_is_said(text):
    (said,) = conf_warnings.mistakes({KEY: text}, ())
    assert "Databricks' own syntax" in said


def test_under_a_name_that_is_no_secret_nothing_is_said():
    confs = dict.fromkeys(("spark.app.name", "spark.shop.host", "spark.eventLog.dir"), "${HOME}")
    assert list(conf_warnings.mistakes(confs, ())) == []


@pytest.mark.parametrize(
    "key",
    [
        "spark.config.poll.interval", "spark.config.stale.expiry", "spark.config.provider.timeout",
        "spark.config.files.keep", "spark.config.providers.vault.param.ttl",
        "spark.config.providers.vault.param.connect.timeout",
    ],
)  # fmt: skip
def test_a_duration_without_a_unit(key):
    (said,) = conf_warnings.mistakes({key: "5"}, ())
    assert said == f"{key}: 5 is taken as milliseconds; write 5s if you mean seconds"
    for text in ("5s", "500ms", "0", "1h", "5 s"):
        assert list(conf_warnings.mistakes({key: text}, ())) == []


@pytest.mark.parametrize("key", ["spark.executor.cores", "spark.config.providers.vault.param.retries"])
def test_a_number_that_is_no_duration(key):
    assert list(conf_warnings.mistakes({key: "5"}, ())) == []


def test_a_generated_password_is_taken_for_a_placeholder_once_in_a_hundred_and_never_shown():
    some = random.Random(20)
    signs = string.ascii_letters + string.digits + string.punctuation
    taken = 0
    for _ in range(3000):
        password = "".join(some.choices(signs, k=24))
        taken += is_placeholder(password)
        said = unfilled(password) or ""
        assert "$(" in said or "${" in password or not any(password[at : at + 5] in said for at in range(20))
    assert taken < 30
