"""Python, notebooks, SQL and shell scripts are reported, place by place, and never rewritten."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sparkconfig.checks.exit_codes import ExitCode
from sparkconfig.cli.main import main
from sparkconfig.errors import ConfigurationError
from sparkconfig.migrate.plan import Names, plan_file
from support.migrations import VALUE, places

PYTHON = [
    'spark.conf.set("fs.azure.account.key.shop.dfs.core.windows.net", "{}")',
    'spark.conf.set("spark.shop.password", "{}")',
    'spark.conf.set(key="fs.s3a.secret.key", value="{}")',
    'spark.sparkContext._jsc.hadoopConfiguration().set("fs.s3a.secret.key", "{}")',
    'hadoop_conf.set("fs.s3a.secret.key", "{}")',
    'user, password = "u", "{}"',
    '(user, *rest), password = ("u", "v"), "{}"',
    'password: str = "{}"',
    'password2: str = "{}"',
    'if (password := "{}"): pass',
    'password = other = "{}"',
    'self.db_password = "{}"',
    'os.environ["DB_PASSWORD"] = "{}"',
    'pw = os.getenv("DB_PASSWORD", "{}")',
    'x = os.getenv("DB_PASSWORD", default="{}")',
    'x = os.environ.get("DB_PASSWORD") or "{}"',
    'x = os.environ.setdefault("DB_PASSWORD", "{}")',
    'frame.option(key="password", value="{}").load()',
    'frame.option("password", value="{}")',
    'frame.option("password", "rep" "orted-4711")',
    'frame.options(**{{"password": "{}"}})',
    'frame.options(password="{}")',
    'frame.write.jdbc(url, "t", properties={{"password": "{}"}})',
    'SparkSession.builder.config("spark.shop.password", "{}")',
    'SparkSession.builder.config(map={{"spark.shop.password": "{}"}})',
    'conf.setAll([("spark.shop.password", "{}")])',
    'settings = {{"db": {{"password": "{}"}}}}',
    'settings = dict(password="{}")',
    'settings.update(password="{}")',
    'url = "jdbc:postgresql://h/db?user=u&password={}"',
    'url = f"jdbc:postgresql://{{host}}/db?user=u&password={}"',
    'url = "jdbc:postgresql://h/db?user=u&password=" + "{}"',
    'url = "jdbc:postgresql://h/db?password=%s" % "{}"',
    'url = "jdbc:postgresql://h/db?password={{}}".format("{}")',
    'frame.option("url", "jdbc:postgresql://u:{}@h/db")',
    'password = str("{}")',
    'password = "{}" if local else load()',
    'password = b"{}".decode()',
    'if password == "{}": pass',
    'def connect(user, password="{}"): pass',
    'def connect(*, password="{}"): pass',
    'connect = lambda password="{}": password',
    'parser.add_argument("--password", default="{}")',
    "spark.sql(\"CREATE TABLE t USING jdbc OPTIONS (url 'jdbc:x', password '{}')\")",
    "spark.sql(f\"CREATE TABLE {{t}} USING jdbc OPTIONS (password '{}')\")",
    'spark.sql("SET fs.s3a.secret.key={}")',
    '# frame.option("password", "{}")',
    '# .option("password", "{}") \\',
    '# password = "{}"',
    "# MAGIC %sql CREATE TABLE t USING jdbc OPTIONS (password '{}')",
    "# url = jdbc:x?password={}",
    "spark.sql(\"CREATE USER x IDENTIFIED BY '{}'\")",
    'os.system("curl -u user:{} https://h")',
    'os.environ["PYSPARK_SUBMIT_ARGS"] = "--conf spark.x.password={} pyspark-shell"',
    'subprocess.run(["mysql", "-p{}"])',
    'subprocess.run(["x", "--password", "{}"])',
    'requests.get("h", auth=("user", "{}"))',
    'HTTPBasicAuth("user", "{}")',
    'smtp.login("me", "{}")',
    'pymysql.connect("h", "u", "{}", "d")',
    'config.set("db", "password", "{}")',
    'keyring.set_password("s", "u", "{}")',
    'setattr(cfg, "password", "{}")',
    'password: str = Field(default="{}")',
    'password = decrypt("{}")',
    '{{"name": "DB_PASSWORD", "value": "{}"}}',
    'def password(): return "{}"',
    'dbpass = "{}"',
    '""" frame.option("password", "{}") """',
    "# MAGIC curl -u user:{} https://h",
    "# MAGIC   option('password', '{}')",
    'if secrets.compare_digest(password, "{}"): pass',
    'self.assertEqual(password, "{}")',
    'b.with_password("{}").build()',
    'jaydebeapi.connect("d", url, ["u", "{}"])',
    'AzureKeyCredential("{}")',
    'if "{}" == password: pass',
    'for password in ["{}", "b"]: pass',
    'password = ["{}"][0]',
    'password = {{"dev": "{}"}}[env]',
    'passwords = {{"dev": "{}"}}',
    'password = passwords.get(env, "{}")',
    'match password:\n    case "{}": pass',
    '[f(password) for password in ["{}"]]',
    'async def password(): return "{}"',
    'password = field(default_factory=lambda: "{}")',
    'PASSWORD = Final[str]("{}")',
    '@click.option("-p", "--password", default="{}")\ndef f(): pass',
    'p.add_argument("-p", "--password", default="{}")',
    'df.option(*("password", "{}"))',
    'password = next(iter(["{}"]))',
    'password = "{}"[::-1]',
    'password = getattr(cfg, "pw", "{}")',
    'password = cfg.pop("x", "{}")',
    'token = environ.setdefault("X", "{}")',
    'password = (lambda: "{}")()',
    'x = dict(zip(["user", "password"], ["u", "{}"]))',
    'password = str(object="{}")',
    'os.system("read -r PW <<< {}")',
    'password.set("{}")',
    'password_entry.insert(0, "{}")',
    'password_box.send_keys("{}")',
    'def get_password():\n    yield "{}"',
    'password = try_decrypt("{}")',
    'password = codecs.decode("{}", "rot13")',
    'password = bytearray("{}", "utf-8")',
    'password = env("X", default="{}")',
    'password = config("X", default="{}")',
    'headers = {{"Authorization": "Bearer {}"}}',
]


@pytest.mark.parametrize("line", PYTHON)
def test_a_literal_in_python(tmp_path: Path, line: str) -> None:
    text = line.format(VALUE)
    line_of_it = text[: text.index(VALUE)].count("\n") + 2 if VALUE in text else 2
    assert {at for at, _ in places(tmp_path, "job.py", f"import os\n{text}\n")} == {line_of_it}


def test_each_line_of_a_text_is_named_by_its_own_number(tmp_path: Path) -> None:
    code = f'''spark.sql("""
CREATE TABLE t USING jdbc
OPTIONS (password '{VALUE}')
""")
"""
frame.option("password", "{VALUE}2")
"""
x = """
spark.shop.password {VALUE}3
"""
'''
    assert [at for at, _ in places(tmp_path, "job.py", code)] == [3, 6, 9]


@pytest.mark.parametrize("name", ["fs.s3a.secret.key", "password"])
def test_the_name_of_an_option_in_a_variable(tmp_path: Path, name: str) -> None:
    code = f'KEY = "{name}"\nspark.conf.set(KEY, "{VALUE}")\n'
    assert places(tmp_path, "job.py", code) == [(2, name)]


def test_a_literal_that_reaches_an_option_by_a_name(tmp_path: Path) -> None:
    code = f'class Shop:\n    value = "{VALUE}"\nframe.option("password", Shop.value)\n'
    assert places(tmp_path, "job.py", code) == [(2, "password")]


@pytest.mark.parametrize(
    "line",
    [
        'password = "${sealed:shop:password}"',
        'password = dbutils.secrets.get(scope="shop", key="password")',
        'password = os.getenv("DB_PASSWORD")',
        'frame.option("password", password).option("user", "shop")',
        'url = f"jdbc:postgresql://h/db?password={password}"',
        'parser.add_argument("--password", "-p", help="of the database")',
        'password = "<password>"',
        '# the password of the shop, see "secrets"',
        'conf.set("spark.executor.memory", "4g")',
        'tokenizer = Tokenizer(inputCol="text", outputCol="words")',
        "answer = client.get_token(SecretIdList=names, token=str(x))",
        'KEY = "fs.s3a.secret.key"',
        'CLIENT_SECRET = "client-secret"',
        'table, check = "x_token", "35"; insert(table, check)',
        'Param("password", "how one logs in to the store")',
        '""" token: what a client has to send first. """',
        'sql = "SELECT token FROM t WHERE password = %s AND token = ? AND secret = :secret"',
        'url = "jdbc:x://h?password={}".format(pw)',
        'password = dbutils.secrets.get("shop", "db-password"); token = vault.get("kv/shop", "token")',
        'if "password" in options: del options["password"]',
        'password = passwords["dev"]; token = next(iter(tokens)); password = getpass("Password: ")',
        'for key in ("user", "password"): print(key)',
        'x = dict(zip(["user", "password"], [user, password])); tokens.append("word")',
    ],
)
def test_what_holds_no_secret_in_python(tmp_path: Path, line: str) -> None:
    assert places(tmp_path, "job.py", f"import os\n{line}\n") == []


def notebook(*cells: str) -> str:
    code = [{"cell_type": "code", "source": cell.splitlines(keepends=True), "outputs": []} for cell in cells]
    text = {"cell_type": "markdown", "source": ["# A notebook\n"]}
    return json.dumps({"cells": [text, *code], "nbformat": 4, "nbformat_minor": 5}, indent=1)


@pytest.mark.parametrize(
    "cell",
    [
        'import os\nspark.conf.set("fs.s3a.secret.key", "{}")\n',
        '%matplotlib inline\npassword = "{}"',
        "%%sql\nDECLARE pw STRING DEFAULT '{}'",
        "%sql DECLARE pw STRING DEFAULT '{}'",
        "%%sql\nCREATE TABLE t USING jdbc OPTIONS (password '{}')",
        "%sql CREATE TABLE é USING jdbc OPTIONS (url 'x',\n  password '{}')",
        "%%bash\nexport DB_PASSWORD={}\n",
        "!export DB_PASSWORD={}\n",
        "library(x)\nconnect <- f(x, password = '{}') %>% g\n",
    ],
)
def test_a_literal_in_a_notebook(tmp_path: Path, cell: str) -> None:
    content = notebook("x = 1\n", cell.format(VALUE), "y = 2\n")
    line = next(at for at, text in enumerate(content.splitlines(), 1) if VALUE in text)
    assert {at for at, _ in places(tmp_path, "job.ipynb", content)} == {line}


def test_a_notebook_that_cannot_be_read_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "job.ipynb").write_text("{}")
    assert main(["migrate", str(tmp_path)]) == ExitCode.CONFIGURATION
    assert "no notebook" in capsys.readouterr().out


def test_an_expression_in_a_notebook_is_no_secret_and_an_output_is(tmp_path: Path) -> None:
    content = json.loads(notebook("password = client.secret_key\nlogin(password=password)\n"))
    content["cells"][1]["outputs"] = [{"text": [f"password={VALUE}\n"]}]
    written = json.dumps(content, indent=1)
    line = next(at for at, text in enumerate(written.splitlines(), 1) if VALUE in text)
    assert places(tmp_path, "job.ipynb", written) == [(line, "")]


def test_each_place_says_what_to_write(tmp_path: Path) -> None:
    (tmp_path / "job.py").write_text(f'frame.option("password", "{VALUE}")\n')
    (tmp_path / "job.sh").write_text(f"spark-submit --conf spark.shop.password={VALUE}1 app.py\n")
    names = Names("app", {})
    said = [plan_file(tmp_path / name, names, provider="s").left[0].why for name in ("job.py", "job.sh")]
    assert "write ${s:app:password} in its place" in said[0]
    assert "--conf 'spark.shop.password=${s:app:spark.shop.password}'" in said[1]


def test_what_is_left_is_no_success(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "job.conf").write_text("spark.executor.memory 4g\n")
    assert main(["migrate", str(tmp_path)]) == 0
    (tmp_path / "job.py").write_text(f'password = "{VALUE}"\n')
    assert main(["migrate", str(tmp_path)]) == ExitCode.UNRESOLVED
    assert (VALUE in capsys.readouterr().out) is False


def test_files_of_an_unknown_kind_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "Job.lua").write_text(f'password = "{VALUE}"\n')
    (tmp_path / "submit").write_text(f"#!/bin/sh\nexport DB_PASSWORD={VALUE}\n")
    assert main(["migrate", str(tmp_path)]) == ExitCode.UNRESOLVED
    shown = capsys.readouterr().out
    assert "Job.lua" in shown
    assert "1 left, in 1 file" in shown


@pytest.mark.parametrize(
    ("one", "other", "names"),
    [
        ("spark.hadoop.fs.s3a.access.key", "spark.hadoop.fs.s3a.secret.key", 2),
        ("spark.shop.password", "spark.shop.token", 2),
        ("spark.ssl2.key.password", "spark.hadoop.fs.s3a.secret.key", 2),
        ("spark.shop.password", "spark.mail.password", 1),
        ("spark.shop.password", "spark.shop.pwd", 1),
    ],
)
def test_equal_values_of_keys_with_different_roles_get_two_names(
    one: str, other: str, names: int, tmp_path: Path
) -> None:
    (tmp_path / "job.conf").write_text(f"{one} {VALUE}\n{other} {VALUE}\n")
    plan = plan_file(tmp_path / "job.conf", Names("app", {}), provider="s")
    assert len({move.name for move in plan.moves}) == names


TEMPLATES = ["$DB_SECRET", "%%TOKEN%%", "__PASSWORD__", "${DB_PASSWORD}", "@PASSWORD@", "<password>", "$(PASSWORD)",
             "{{ password }}", "{{secrets/shop/password}}"]  # fmt: skip


@pytest.mark.parametrize("placeholder", TEMPLATES)
def test_what_a_template_fills_in_is_never_sealed(
    placeholder: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.conf.template").write_text(f"spark.shop.password {placeholder}\n")
    (tmp_path / "a.yaml").write_text(
        f'kind: SparkApplication\nspec:\n  sparkConf:\n    spark.shop.secret: "{placeholder}"\n'
    )
    (tmp_path / "a.py").write_text(f'password = "{placeholder}"\n')
    assert main(["migrate", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    assert "0 secrets to move, 0 left, in 3 files" in shown
    assert shown.count("is filled in by something else: write the reference there by hand") == 2


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.conf", "# a.b c\nspark.a b\n" * 8_000),
        ("a.sh", "x=${A:-b}\n# c\n" * 8_000),
        ("a.sql", "SELECT 'a'; -- b\n" * 8_000),
        ("a.py", "x = 'a' # b\n" * 5_000),
        ("a.py", "x = " + " + ".join(["'a'"] * 400) + "\n"),
    ],
)
@pytest.mark.timeout(60)
def test_a_long_file_takes_no_time_that_grows_with_its_square(
    tmp_path: Path, name: str, content: str
) -> None:
    assert places(tmp_path, name, content) == []


def test_an_expression_that_is_nested_too_deeply_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = " + " + ".join(["'a'"] * 20_000))
    with pytest.raises(ConfigurationError, match=r"a\.py"):
        plan_file(tmp_path / "a.py", Names("app", {}), provider="s")
