"""Forms in which people's files hold secrets, by the kinds of their tools; VALUE is the secret.

Each was once passed over without a word. The text around them shows that the rule takes the secret alone.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from sparkconfig.migrate.plan import files_in
from support.migrations import VALUE, notebook, places

FORMS = [
    (
        "a.ps1",
        "$c = New-Object PSCredential('svc', (ConvertTo-SecureString 'VALUE' -AsPlainText -Force))",
    ),
    ("a.ps1", 'ConvertTo-SecureString -AsPlainText "VALUE" -Force'),
    ("a.ps1", "ConvertTo-SecureString VALUE -AsPlainText -Force"),
    ("a.ps1", '[PSCredential]::new("user", ("VALUE" | ConvertTo-SecureString -AsPlainText -Force))'),
    ("a.ps1", "Invoke-Sqlcmd -Username sa -Password VALUE -Query q"),
    ("a.ps1", "$secure = ConvertTo-SecureString @'\nVALUE\n'@ -AsPlainText -Force"),
    ("a.py", 'dict([["password", "VALUE"]])'),
    ("a.py", 'Variable.get("db_password", default_var="VALUE")'),
    ("a.py", 'CELERY_BROKER_URL = "redis://:VALUE@h:6379/0"'),
    ("docker-compose.yml", 'services:\n  a:\n    command: ["--requirepass", "VALUE"]\n'),
    ("a.yaml", "db:\n  password: &pw VALUE\n  other: *pw\n"),
    ("values.yaml", "extraEnv: |\n  - name: DB_PASSWORD\n    value: VALUE\n"),
    ("profiles.yml", "shop:\n  outputs:\n    dev:\n      pass: \"{{ env_var('DBT_PASS', 'VALUE') }}\"\n"),
    ("main.tf", "user_data = <<EOF\nexport DB_PASSWORD=VALUE\nEOF"),
    (
        "main.tf",
        'resource "databricks_secret" "s" {\n  key = "x"\n  string_value = "VALUE"\n  scope = "y"\n}',
    ),
    ("main.tf", 'resource "azurerm_key_vault_secret" "v" {\n  name = "db"\n  value = "VALUE"\n}'),
    ("main.tf", 'password = coalesce(var.password, "VALUE")'),
    ("main.tf", 'password = lookup(var.passwords, "x", "VALUE")'),
    ("terraform.tfstate", '{"attributes": {"password": "VALUE"}}'),
    ("main.bicep", "param adminPassword string = 'VALUE'"),
    ("a.ipynb", "%set_env DB_PASSWORD VALUE\n"),
    ("a.ipynb", "%sql postgresql://u:VALUE@h/db\n"),
    ("a.ipynb", '%%configure -f\n{"conf": {"spark.hadoop.fs.s3a.secret.key":\n "VALUE"}}\n'),
    ("a.ipynb", "!pip install git+https://u:VALUE@h/x\n"),
    ("A.scala", 'opt[String]("password").withDefault("VALUE")'),
    ("A.java", 'Optional.ofNullable(x.getPassword()).orElseGet(() -> "VALUE");'),
    ("A.java", 'KeyStore.load(in, "VALUE".toCharArray());'),
    ("A.java", 'Objects.requireNonNullElse(password, "VALUE");'),
    ("A.java", 'String.format("jdbc:x://h?password=%s", "VALUE");'),
    ("a.jsx", "const apiKey = 'VALUE';"),
    ("a.rb", "ENV.fetch('DB_PASSWORD') { 'VALUE' }"),
    ("a.php", "$db = new PDO('mysql:host=h', 'root', 'VALUE');"),
    ("a.R", 'Sys.getenv("DB_PASSWORD", unset = "VALUE")'),
    ("Jenkinsfile", "environment { DB_PASSWORD = 'VALUE' }"),
    ("Jenkinsfile", "string(name: 'PASSWORD', defaultValue: 'VALUE')"),
    ("build.gradle", 'password = "VALUE"'),
    ("build.gradle", "credentials { username 'u'; password 'VALUE' }"),
    (
        "hive-site.xml",
        "<property><value>VALUE</value><name>javax.jdo.option.ConnectionPassword</name></property>",
    ),
    ("web.config", '<add key="DbPassword" value="VALUE"/>'),
    ("web.config", '<add name="x" connectionString="Server=h;Password=VALUE;"/>'),
    (".pypirc", "[pypi]\nusername = u\npassword = VALUE"),
    (".netrc", "machine h login u password VALUE"),
    ("credentials", "[default]\naws_access_key_id = AKIAIOSFODNN7EXAMPLZ\naws_secret_access_key = VALUE"),
    (".databrickscfg", "[DEFAULT]\nhost = https://x\ntoken = VALUE"),
    ("a.jsonl", '{"password": "VALUE"}'),
    ("a.nomad", 'env { DB_PASSWORD = "VALUE" }'),
    ("a.bat", "set DB_PASSWORD=VALUE"),
    ("a.cmd", "setx DB_PASSWORD VALUE"),
    ("a.cmd", "spark-submit --conf spark.shop.password=VALUE job.py"),
    ("Makefile", "run:\n\texport DB_PASSWORD=VALUE; run"),
    ("Makefile", "DB_PASSWORD ?= VALUE"),
    ("a.mk", "DB_PASSWORD := VALUE"),
    ("a.service", "[Service]\nEnvironment=DB_PASSWORD=VALUE"),
    ("application.yml", "spring:\n  datasource:\n    password: ${DB_PASSWORD:VALUE}"),
    ("a.sql", "ALTER USER u IDENTIFIED BY VALUE;"),
    ("a.sh", "echo -n 'VALUE' | gcloud secrets versions add x --data-file=-"),
    ("a.swift", 'let password = "VALUE"'),
    ("a.ex", 'config :app, password: "VALUE"'),
    ("a.c", 'char *password = "VALUE";'),
    ("a.cpp", 'std::string password("VALUE");'),
    ("a.proto", 'option password = "VALUE";'),
    ("a.py", 'spark.conf.set("fs.azure.account.key." + name + ".dfs.core.windows.net", "VALUE")'),
    ("a.py", 'frame.option("password", str("VALUE")).load()'),
    ("a.scala", 'config.withValue("db.password", ConfigValueFactory.fromAnyRef("VALUE"))'),
    ("a.java", 'postgresProperties.put(JDBCConnection.JDBC_PASSWORD, "VALUE");'),
    ("a.R", 'password = ifelse(x, y, "VALUE")'),
    ("a.sh", "printf 'VALUE\\n' | sudo -S ls"),
    ("a.sh", "mysqldump -uroot -p'VALUE' db"),
    ("a.sh", "gh auth login --with-token <<< VALUE"),
    ("values.yaml", 'x:\n  spark.shop.password: {{ .Values.pw | default "VALUE" }}\n'),
    ("a.xml", "<password><![CDATA[VALUE]]></password>"),
    ("airflow.cfg", "[core]\nfernet_key = VALUE\n"),
    ("a.ipynb", "%%writefile .env\nDB_PASSWORD=VALUE\n"),
]


@pytest.mark.parametrize(("name", "text"), FORMS)
def test_a_form_is_reported(tmp_path: Path, name: str, text: str) -> None:
    text = text.replace("VALUE", VALUE)
    content = notebook(text) if name.endswith(".ipynb") else f"{text}\n"
    line = next(at for at, each in enumerate(content.splitlines(), 1) if VALUE in each)
    assert line in {at for at, _ in places(tmp_path, name, content)}
    assert files_in([tmp_path]) == ([tmp_path / name], []), "it is read as one of a folder"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.ps1", 'ConvertTo-SecureString -String $env:PW -AsPlainText -Force; $pw | ConvertTo-SecureString -Force'),
        ("a.ps1", 'Invoke-Sqlcmd -Username sa -Password $pw -Query q'),
        ("a.py", 'pd.DataFrame(zip(["user", "password"], ["secret", "token"])); list(zip(names, values))'),
        ("a.py", 'x = dict(zip(["user", "password"], [user, password])); y = zip(("a", "b"), ("c", "d"))'),
        ("a.py", 'df = spark.createDataFrame([("a", 1)], ["token_count", "id"]); df.toDF("user", "token")'),
        ("a.py", 'password, user = read("x", "y"), "u"\nx, token_url = 1, "http://h"'),
        ("a.py", 'token, text = text.split(" "), "b"\nstring = "a"\npassword = f(x, string="abc")'),
        ("a.py", 'x = lookup(table, "password", "user"); y = config.get("name", "shop"); z = env("HOME", "/root")'),
        ("a.py", 'x = f("password", list(names)); y = "a" + name + "b"; z = isinstance(token, str)'),
        ("a.java", 'char[] letters = "0123456789abcdef".toCharArray(); f(a).orElseGet(() -> "none");'),
        ("a.java", 'String.format("password of %s", "bob"); String.format("/%s/x?token_type=%s", "a", "b");'),
        ("a.tf", 'resource "aws_secretsmanager_secret" "x" {\n  name = "prod/db"\n}\nx = coalesce(var.a, "b")'),
        ("a.tf", 'variable "db_password" {\n  type = string\n  description = "of the shop"\n}\nx = <<EOF\na = b\nEOF'),
        ("a.xml", "<property><name>a.token.provider</name>\n<value>org.x.Y</value>\n</property>"),
        ("a.xml", "<p><name>x.user</name><value>ann</value></p>\n<p><name>x.password</name><value>${pw}</value></p>"),
        ("a.yaml", "x:\n  name: &n shop\n  other: *n\nenv: |\n  - name: DB_PASSWORD\n    valueFrom: {a: b}\n"),
        ("profiles.yml", "a:\n  pass: \"{{ env_var('DBT_PASS') }}\"\n  x: \"{{ var('schema', 'shop') }}\"\n"),
        ("application.yml", "a:\n  password: ${DB_PASSWORD}\n  token: ${DB_TOKEN:?set it}\n  url: ${URL:http://h}\n"),
        ("a.sql", "-- rows identified by name\nSELECT 1"),
        ("Makefile", "DB_PASSWORD ?= $(shell cat pw)\nTOKEN := $(TOKEN)\n"),
        (".netrc", "machine h login u password $PW"),
        ("a.bat", "set DB_PASSWORD=%DB_PASSWORD%\nsetx TOKEN_FILE c:/x"),
        ("a.ps1", '$token = Get-AzAccessToken -Url "https://h"; $Password = Read-Host -AsSecureString "Password"'),
        ("a.ts", 'const token = await getToken("scope"); interface X { password: string; token?: string }'),
        ("Jenkinsfile", "environment { DB_PASSWORD = credentials('db-password') }"),
        ("a.proto", "message Login { string password = 1; string token = 2; }"),
    ],
)  # fmt: skip
def test_what_is_beside_a_form_is_not_reported(tmp_path: Path, name: str, text: str) -> None:
    assert places(tmp_path, name, f"{text}\n") == []
