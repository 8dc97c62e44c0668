"""Python, notebooks, SQL and shell scripts are reported, place by place, and never rewritten."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from sparkconfig.checks.exit_codes import ExitCode
from sparkconfig.cli.main import main
from sparkconfig.migrate.plan import LARGEST, Names, plan_file
from support.migrations import VALUE, notebook, places


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
        'schema = StructType([StructField("password", StringType()), StructField("token", StringType(), True)])',
        'df.withColumn("password", lit(None)).drop("token").groupBy("token", "day").count()',
        'parser.add_argument("--password-file", default="/run/pw"); token = get_token("https://vault", "role")',
        'tokens = text.split(" "); token = tokens[0].strip(","); t = Tokenizer(pad_token="[PAD]", eos_token="</s>")',
        'def test_password():\n    return "ok"',
        'if key in ("password", "token"): pass\nassert "password" not in out\nraise ValueError("password must be set")',
        'x = dict(zip(["user", "password"], [user, password])); tokens.append("word")',
    ],
)
def test_what_holds_no_secret_in_python(tmp_path: Path, line: str) -> None:
    assert places(tmp_path, "job.py", f"import os\n{line}\n") == []


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
    (tmp_path / "Job.class").write_bytes(b"\xca\xfe\0\0" + VALUE.encode())
    (tmp_path / "page.md").write_text(f'password = "{VALUE}"\n')
    (tmp_path / "long.json").write_text(" " * (LARGEST + 1))
    (tmp_path / "Job.xyz").write_text(f'password = "{VALUE}"\n')
    (tmp_path / "submit").write_text(f"#!/bin/sh\nexport DB_PASSWORD={VALUE}\n")
    assert main(["migrate", str(tmp_path)]) == ExitCode.UNRESOLVED
    shown = capsys.readouterr().out
    assert all(name in shown for name in ("Job.class", "page.md", "long.json"))
    assert "2 left, in 2 files" in shown


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


def calls(folder: Path, name: str, content: str) -> int:
    """How many functions are called to read a file."""
    (folder / name).write_text(content)
    seen = [0]

    def count(*_: object) -> None:
        seen[0] += 1

    sys.setprofile(count)
    try:
        plan_file(folder / name, Names("app", {}), provider="s")
    finally:
        sys.setprofile(None)
    return seen[0]


@pytest.mark.parametrize(
    ("name", "made"),
    [
        ("a.sh", lambda n: "x=${A:-b}\n# c\n" * n),
        ("a.sql", lambda n: "SELECT 'a'; -- b\n" * n),
        ("a.py", lambda n: "x = 'a' # b\n" * n),
        ("a.py", lambda n: "x = " + " + ".join(["'a'"] * (n // 2)) + "\n"),
        ("a.py", lambda n: "".join(f"frame.option('password', 'shop-{each}')\n" for each in range(n))),
        ("a.py", lambda n: "x = y\ny = x\n" * n + "password = x\n"),
        ("a.py", lambda n: "x = '''\n" + "".join(f"password = shop-{each}\n" for each in range(n)) + "'''\n"),
        ("a.py", lambda n: "".join(f"# AKIA{each:016}\nx = 1\n" for each in range(n))),
        ("a.py", lambda n: "print 1\npassword = 'b'\n" * n),
    ],
)
def test_a_long_file_takes_no_work_that_grows_with_its_square(
    tmp_path: Path, name: str, made: Callable[[int], str]
) -> None:
    calls(tmp_path, name, made(10))  # what is compiled once
    assert calls(tmp_path, name, made(800)) < 2.3 * calls(tmp_path, name, made(400))


@pytest.mark.parametrize(
    "line",
    ["%pip install x", "!ls", "# MAGIC %md\nprint 'x'", "print 1", "<<<<<<< HEAD\n=======\nx = 1\n>>>>>>> b",
     "x = `ls`", "def f(:", "%sql SELECT 1", "x = (",
     "def f():\n\tx = 1\n        y = 2", "raise E, 'x'", "x = 1\f\r", "exec 'x'",
     "x = " + " + ".join(["'a'"] * 20_000)],
)  # fmt: skip
def test_a_line_that_is_no_python_hides_no_other(tmp_path: Path, line: str) -> None:
    rest = f'frame.option("password", "{VALUE}")\nurl = "jdbc:x://h?user=u&password={VALUE}"\npassword = "{VALUE}"\n'
    lines = line.count("\n")
    found = places(tmp_path, "job.py", f"{line}\n{rest}")
    assert {at for at, _ in found} == {lines + 2, lines + 3, lines + 4}
