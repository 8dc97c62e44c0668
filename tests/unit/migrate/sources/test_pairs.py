"""Scripts, SQL, and files of other kinds: a name and the literal beside it are reported."""

from __future__ import annotations

from pathlib import Path

import pytest

from sparkconfig.migrate.plan import Names, plan_file
from support.migrations import VALUE, places

SCRIPTS = [
    "spark-submit --conf spark.shop.password={} app.py",
    'spark-submit --conf "spark.hadoop.fs.s3a.secret.key=${{STORE_PASSWORD:-{}}}" app.py',
    "spark-submit --conf \"spark.hadoop.fs.s3a.secret.key=${{X:='{}'}}\" app.py",
    "DB_PASSWORD=${{DB_PASSWORD:-{}}}",
    "DB_PASSWORD=${{1:-{}}}",
    ': "${{DB_PASSWORD:={}}}"',
    "x=${{A:-${{DB_PASSWORD:-{}}}}}",
    "export DB_PASSWORD={}",
    "python app.py --password {}",
    "python app.py --password=${{1-{}}}",
    "java -Djavax.net.ssl.keyStorePassword={} -jar x.jar",
    "# export DB_PASSWORD={}",
    "#  --conf spark.shop.password={} \\",
    "cat > x <<EOF\nspark.shop.password {}\nEOF",
    "cat > x <<'EOF'\npassword={}\nEOF",
    "curl -u user:{} https://h",
    "curl -sSfu admin:{} https://h",
    "curl --user 'user:{}' https://h",
    "curl -H 'X-Api-Key: {}' https://h",
    "mysql -uroot -p{} db",
    "mysqladmin -u root password {}",
    "sshpass -p {} ssh h",
    "PGPASSWORD={} psql -h db",
    "x=$(PGPASSWORD={} psql -h db)",
    "sudo -u x env DB_PASSWORD={} run",
    "bash -c 'export DB_PASSWORD={}; run'",
    "psql -c \"CREATE USER x WITH PASSWORD '{}'\"",
    "psql <<< \"ALTER USER x PASSWORD '{}'\"",
    "cat <<< 'password={}' > x.properties",
    "kinit me <<< {}",
    "echo {} | docker login --password-stdin -u me r",
    "echo -n {} > password.txt",
    "PASSWORD=$(echo {} | base64)",
    "docker login -u me -p {} r",
    "docker run -e DB_PASSWORD={} img",
    "kubectl create secret generic x --from-literal=password={}",
    "helm install x --set a=b,db.password={}",
    "redis-cli -a {} ping",
    "sqlcmd -S h -U sa -P{}",
    "openssl pkcs12 -passout pass:{} -in x",
    "keytool -storepass {} -keystore x",
    "vault login {}",
    "mc alias set x http://h user {}",
    "aws configure set aws_secret_access_key {}",
    "hadoop fs -D fs.s3a.secret.key={} -ls /",
    "spark-submit --conf 'spark.x.password'='{}' a.py",
    'ARGS="$ARGS --conf spark.x.password={}"',
    "declare -A cfg=([password]={} [user]=x)",
    "run --pw {}",
    "DBPASS={}",
    "printf 'spark.x.password=%s\\n' {} >> f",
    "spark-sql -e \"DECLARE pw STRING DEFAULT '{}'\"",
    "spark-sql <<EOF\nSELECT 1;\nDECLARE pw STRING DEFAULT '{}';\nEOF",
    "beeline -e \"INSERT INTO t (name, password) VALUES ('x', '{}')\"",
    'read -r PW <<< "{}"',
    "sed -i 's/password .*/password {}/' f",
    "sed -i 's|__PASSWORD__|{}|g' f",
    'read -r U PW <<< "u {}"',
    "read PW < <(echo {})",
    "echo {} | read PW",
    "printf -v PW '%s' {}",
    "PW=$(cat <<< {})",
    "PW+={}",
    'case "$PW" in {}) ;; esac',
    '[ "$PW" = "{}" ] && x',
    "[[ $TOKEN == {} ]] && x",
    "crudini --set f sec password {}",
    'chpasswd <<< "u:{}"',
    "echo u:{} | chpasswd",
    "htpasswd -bc f u {}",
    "az keyvault secret set --name x --value {}",
    "ssh-keygen -N {} -f k",
    "openssl enc -aes256 -k {}",
    'echo "h:5432:db:u:{}" > ~/.pgpass',
    "databricks secrets put-secret s k --string-value {}",
    "mapfile -t PW <<< {}",
    'tee f <<< "password: {}"',
    'echo "password: {}" >> f',
    "PASSWORDS=(a {})",
    'PASSWORDS["x"]={}',
    "PW=$(printf %s {})",
    'sed -i -e "s/^password:.*$/password: {}/" f',
    'sed -i "/password/c\\password {}" f',
    "sed -i '$ a spark.x.password {}' f",
    "git config x.password {}",
    "pip config set global.token {}",
    'curl -H "Authorization: Bearer {}" h',
    "read -r PW <<EOF\n{}\nEOF",
    "IFS=: read -r U PW <<< u:{}",
    "PW=({})",
    "setenv PW {}",
]


@pytest.mark.parametrize("line", SCRIPTS)
def test_a_literal_in_a_script(tmp_path: Path, line: str) -> None:
    found = places(tmp_path, "job.sh", f"#!/bin/bash\n{line.format(VALUE)}\n")
    assert {at for at, _ in found} == {line[: line.index("{}")].count("\n") + 2}


def test_what_holds_no_secret_in_a_script(tmp_path: Path) -> None:
    lines = [
        'spark-submit --conf "spark.shop.password=$DB_PASSWORD" --conf "spark.shop.token=${TOKEN:?set it}" app.py',
        "spark-submit --conf 'spark.shop.password=${sealed:shop:password}' app.py",
        "bash -c 'echo' # the password: see the wiki",
        'PASSWORD=$1; TOKEN="$2"; PGPASSWORD="$pw" psql',
        "read -s -p 'Password: ' password",
        'curl -u "$user:$pw" https://h; mysql -u root -p db; docker run -p 8080:80 img',
        "echo 'enter the password for the shop' | tee log",
        "unset DB_PASSWORD AWS_TOKEN; export DB_PASSWORD TOKEN",
        "password=$(vault kv get -field=password secret/x)",
        "sed 's/password=.*/password=/; s/@PASSWORD@/$PW/' x; sed \"s/^password=.*/password=$(random)/\" x",
        "# Set a secret key; do not use 'set -x', or the password shows",
        'read -r PW <<< "$DB_PASSWORD"; [ "$PW" = "" ] || [ -z "$PW" ]; kubectl get secret shop -o yaml',
        'printf "password=%s\\n" "$PW" >> f; grep -q password f; curl -H "Authorization: Bearer $TOKEN" h',
    ]
    assert places(tmp_path, "job.sh", "\n".join(lines)) == []


@pytest.mark.parametrize(
    "line",
    [
        "CREATE TABLE t USING jdbc OPTIONS (url 'jdbc:x', password '{}');",
        "CREATE TABLE t USING jdbc OPTIONS ('password' = \"{}\");",
        "ALTER TABLE t SET TBLPROPERTIES ('shop.password' = '{}');",
        "SET spark.shop.password={};",
        "SELECT * FROM t WHERE token = '{}';",
        "-- SET spark.shop.password={};",
        "/* OPTIONS (password '{}') */",
        "DECLARE pw STRING DEFAULT '{}';",
        "SELECT 1; CREATE TABLE t USING jdbc OPTIONS (password r'{}');",
        "SET VARIABLE (a, pw) = ('a', '{}');",
        "EXECUTE IMMEDIATE 'x ?' USING '{}' AS password;",
        "SELECT '{}' AS password;",
        "SELECT coalesce(password, '{}') FROM t;",
        "INSERT INTO t (password) VALUES ('{}');",
        "CREATE TABLE t (password STRING DEFAULT '{}');",
        "SET `spark.x.password`=`{}`;",
        "SET @pw = N'{}'",
        "pw CONSTANT varchar2(9) := '{}';",
        "SELECT try_aes_decrypt(unbase64(x), '{}', 'GCM')",
        "SELECT aes_decrypt(x, '{}') ",
        "WITH x AS (SELECT '{}' AS token) SELECT 1",
        "SELECT map('password', '{}')",
        "WHERE password IN ('{}')",
        "WHERE '{}' = password",
        "CALL set_password('{}')",
        "WHERE password != '{}'",
        "password VARCHAR(20) NOT NULL DEFAULT '{}'",
    ],
)
def test_a_literal_in_sql(tmp_path: Path, line: str) -> None:
    assert {at for at, _ in places(tmp_path, "job.sql", f"SELECT 1;\n{line.format(VALUE)}\n")} == {2}


def test_what_holds_no_secret_in_sql(tmp_path: Path) -> None:
    lines = [
        "CREATE TABLE logins (\"token_ident\" varchar(9), password STRING COMMENT 'chosen by a user')",
        "SELECT password, 'x', concat(token, '-') FROM t WHERE password IS NOT NULL AND name = 'bob'",
        "INSERT INTO t (password, name) SELECT ?, 'bob'; SET VAR (pw, name) = (:pw, 'bob')",
        "SELECT coalesce(password, ''), '' AS password, 'Bearer' AS token_type FROM t WHERE token LIKE '%x%'",
    ]
    assert places(tmp_path, "job.sql", ";\n".join(lines)) == []


FILES = [
    ("Dockerfile", "ENV DB_PASSWORD={}"),
    ("Dockerfile.dev", "ENV A=b DB_PASSWORD={}"),
    ("Dockerfile", "ARG TOKEN={}"),
    (".env", "DB_PASSWORD={}"),
    (".env", "export DB_PASSWORD='{}'"),
    ("core-site.xml", "<property><name>fs.s3a.secret.key</name><value>{}</value></property>"),
    ("settings.xml", "<server><password>{}</password></server>"),
    ("job.json", '{{"new_cluster": {{"spark_conf": {{"spark.x.password": "{}"}}}}}}'),
    ("job.json", '{{"env": [{{"name": "DB_PASSWORD", "value": "{}"}}]}}'),
    ("job.json", '{{"args": ["--password", "{}"]}}'),
    ("a.ini", "[db]\npassword = {}"),
    ("a.toml", 'password = "{}"'),
    ("a.conf", "[db]\npassword = {}"),
    ("application.conf", 'db {{\n  password = "{}"\n}}'),
    ("application.conf", 'include "x"\nspark.x.password = "{}"'),
    ("Job.scala", 'spark.read.option("password", "{}")'),
    ("Job.scala", 'Map("password" -> "{}")'),
    ("Job.java", 'conf.set("fs.s3a.secret.key",\n  "{}");'),
    ("main.tf", 'password = "{}"'),
    ("Job.java", 'ds.setPassword("{}");'),
    ("Job.java", 'b.withPassword("{}").build();'),
    ("Job.java", 'if (password.equals("{}")) x();'),
    ("Job.java", 'if ("{}".equals(password)) x();'),
    ("Job.java", 'DriverManager.getConnection(url, "u", "{}");'),
    ("Job.java", 'Map.of("password", "{}");'),
    ("Job.java", 'new Config("u", /* password */ "{}");'),
    ("Job.java", '@Value("${{db.password:{}}}")'),
    ("Job.java", 'Optional.ofNullable(System.getenv("DB_PW")).orElse("{}");'),
    ("Job.scala", 'val pw: String = "{}"'),
    ("Job.scala", 'def f(user: String, password: String = "{}") = x'),
    ("Job.scala", 'val password = """{}"""'),
    ("job.R", 'password <- "{}"'),
    ("main.tf", 'variable "db_password" {{\n  default = "{}"\n}}'),
    ("job.json", '{{"name": "DB_PW", "default": "{}"}}'),
    ("compose.yml", "services:\n  db:\n    environment:\n      - DB_PASSWORD={}"),
    ("compose.yml", "services:\n  db:\n    environment:\n      PW: ${{PASSWORD:-{}}}"),
    ("compose.yml", "services:\n  db:\n    command: spark-submit --conf spark.x.password={} a.py"),
    ("app.yaml", "spec:\n  arguments:\n    - --password\n    - {}"),
    ("app.yaml", "spec:\n  args: ['bash', '-c', 'spark-submit --conf spark.x.password={} a.py']"),
    ("map.yaml", "data:\n  spark-defaults.conf: |\n    spark.a b\n    spark.x.password {}"),
    ("map.yaml", "data:\n  x.xml: |\n    <name>fs.s3a.secret.key</name>\n    <value>{}</value>"),
    ("map.yaml", "data:\n  run.sh: |\n    curl -u a:{} https://h"),
    ("job.yaml", "data:\n  a.sql: |\n    DECLARE pw STRING DEFAULT '{}';"),
    ("Job.scala", "spark.sql(\"DECLARE pw STRING DEFAULT r'{}'\")"),
    ("Job.scala", 'spark.sql("""\n  INSERT INTO t (name, pw)\n  VALUES (\'x\', \'{}\')""")'),
    ("chart.yaml", "{{{{- if .Values.x }}}}\npassword: {}\n{{{{- end }}}}"),
    ("Job.java", 'Map.of("user", "a", "password", "{}");'),
    ("Job.java", '@Value("{}") private String password;'),
    ("Job.java", 'new PasswordAuthentication("u", "{}".toCharArray())'),
    ("Job.java", 'AwsBasicCredentials.create("a", "{}")'),
    ("Job.java", 'String url = "jdbc:postgresql://h/db?user=u&password={}";'),
    ("Job.java", 'String url = base + "?user=u&password=" + "{}";'),
    ("Job.java", 'm.put(PASSWORD, "{}");'),
    ("Job.java", 'password = own ? "{}" : other;'),
    ("Job.java", 'String p = env.getProperty("db.password", "{}");'),
    ("Job.scala", 'Seq("user" -> "a", ("password", "{}"))'),
    ("Job.scala", 'val token: Token = Token("{}")'),
    ("Job.scala", 'val password = Some("{}")'),
    ("Job.scala", 'sys.env.get("DB_PASSWORD").getOrElse("{}")'),
    ("job.R", '"{}" -> password'),
    ("job.R", 'assign("password", "{}")'),
    ("job.R", 'opts$password <- "{}"'),
    ("job.R", 'spark_read_jdbc(sc, "t", options = list(password = "{}"))'),
    ("Job.kt", 'val password: String? = "{}"'),
    ("Job.kt", 'mapOf("password" to "{}")'),
    ("Job.kt", 'val password by lazy {{ "{}" }}'),
    ("Job.kt", 'System.getenv("PW") ?: "{}"'),
    ("app.js", 'const password = process.env.DB_PASSWORD || "{}";'),
    ("app.ts", "const cfg: Config = {{ apiKey: `{}` }}"),
    ("app.rb", 'ENV.fetch("DB_PASSWORD", "{}")'),
    ("app.rb", "ENV['DB_PASSWORD'] ||= '{}'"),
    ("App.cs", 'var cs = @"Server=x;Password={};";'),
    ("app.rs", 'let password: &str = "{}";'),
    ("app.go", 'os.Setenv("DB_PASSWORD", "{}")'),
    ("app.php", "$password = '{}';"),
    ("app.php", "define('DB_PASSWORD', '{}');"),
    ("stack.yaml", "Resources:\n  DB:\n    Properties:\n      MasterUserPassword: {}"),
    ("stack.yaml", "Parameters:\n  DbPassword:\n    Type: String\n    Default: {}"),
    ("stack.yaml", "- ParameterKey: DbPassword\n  ParameterValue: {}"),
    ("stack.json", '{{"ParameterKey": "DbPassword", "ParameterValue": "{}"}}'),
    ("job.json", '{{"password": ["{}"]}}'),
    ("beans.xml", '<property name="password" value="{}"/>'),
    ("beans.xml", '<entry key="password">{}</entry>'),
]


@pytest.mark.parametrize(("name", "text"), FILES)
def test_a_literal_in_a_file_of_another_kind(tmp_path: Path, name: str, text: str) -> None:
    content = f"{text.format(VALUE)}\n"
    line = next(at for at, text in enumerate(content.splitlines(), 1) if VALUE in text)
    assert {at for at, _ in places(tmp_path, name, content)} == {line}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("Dockerfile", "ARG DB_PASSWORD\nENV DB_PASSWORD=$DB_PASSWORD TOKEN_FILE=/run/token\n"),
        ("core-site.xml", "<name>hadoop.security.credential.provider.path</name><value>jceks://x</value>"),
        ("application.conf", "db {\n  password = ${?DB_PASSWORD}\n  token {\n    ttl = 5m\n  }\n}\n"),
        (
            "job.json",
            '{"spark_conf": {"spark.x.password": "{{secrets/a/b}}"}, "credentials": ["user", "password"]}',
        ),
        (
            "compose.yml",
            (
                "environment:\n  - DB_PASSWORD=${DB_PASSWORD}\n  - DB_PASSWORD\n"
                'secrets: [password]\nvolumes: ["$PWD:/home/me"]\n'
            ),
        ),
        (
            "app.yaml",
            "env:\n- name: DB_PASSWORD\n  valueFrom:\n    secretKeyRef: {name: shop, key: password}\n",
        ),
        ("Job.scala", 'val token = conf.get("password"); df.select("token", "user")\n'),
        (
            "Job.scala",
            "def login(\n    token: AuthenticationToken,\n    password: String) = new Token[Identifier]\n",
        ),
        (
            "Job.java",
            'String p = conf.getPassword("fs.s3a.secret.key"); console.readPassword("Password: "); m.remove("token")\n',
        ),
        ("Job.scala", 'df.select("token", "user"); val x: Map[String, String] = f("password", "user")\n'),
        (
            "Job.scala",
            'case class Token(kind: String = "word"); "${sealed:app:password} ${env.DB_PASSWORD}"\n',
        ),
        ("Job.scala", "val secretKey = Utils.createSecret(256)\npassword = null\n"),
        ("job.conf.template", "# livy.keystore.password =\n# spark.x.password\n"),
        ("main.tf", 'password = "${var.password}"\ntoken    = var.token\n'),
        ("chart.yaml", "{{- if .Values.x }}\npassword: {{ .Values.password | quote }}\n{{- end }}\n"),
        (
            "Job.java",
            'String PASSWORD_KEY = "password"; log.info("password", "not set"); if (key.equals("password")) {}\n',
        ),
        ("Job.java", '@Column(name = "password") String password; throw new X("password is missing");\n'),
        (
            "Job.scala",
            'df.select("password", "token").withColumnRenamed("token", "tok"); val padToken = "[PAD]"\n',
        ),
        (
            "Job.scala",
            'val password = dbutils.secrets.get(scope = "shop", key = "db-password"); val b = sys.env("DB_PW")\n',
        ),
        ("Job.scala", 'val tokenUrl = "https://x"; val passwordFile = "/etc/pw"; val maxTokens = "100"\n'),
        ("job.json", '{"padToken": "[PAD]", "eos_token": "</s>", "tokens": "100", "passwordField": "#pw"}'),
        ("job.json", '{"inputTokens": "12", "token_type": "Bearer", "token_ttl": "90d", "token": null}'),
        ("main.tf", 'resource "aws_secretsmanager_secret" "db_password" {\n  name = "prod/db"\n}\n'),
        ("app.conf", "db {\n  password = null\n  token-ttl = 5 minutes\n  password-file = x\n}\n"),
        (
            "es.yaml",
            "kind: ExternalSecret\nspec:\n  data:\n  - secretKey: db-user\n    remoteRef: {key: prod/db}\n",
        ),
        ("values.yaml", "existingSecret: shop-credentials\naccessToken: 3600s\ntoken: ~\nsecret: true\n"),
        (
            "play.yaml",
            "pw_password: \"{{ lookup('env', 'x', password=x) }}\"\ntoken: '{{ f(\"token\", \"b\") }}'\n",
        ),
    ],
)
def test_what_holds_no_secret_in_a_file_of_another_kind(tmp_path: Path, name: str, content: str) -> None:
    assert places(tmp_path, name, content) == []


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("job.conf", "# spark.shop.password {}"),
        ("job.conf", "#spark.shop.password={}"),
        ("job.conf", "! password = {}"),
        ("job.yaml", '# spark.shop.password: "{}"'),
        ("job.yaml", "  # password: '{}'"),
    ],
)
def test_what_is_commented_out(tmp_path: Path, name: str, line: str) -> None:
    before = "a: b\n"
    assert {at for at, _ in places(tmp_path, name, f"{before}{line.format(VALUE)}\n")} == {2}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("run.sh", "spark-submit \\\n  --name x \\\n  --conf spark.shop.password={} \\\n  app.jar\n"),
        ("run.sh", "tool \\\n  --password {}\n"),
        ("Makefile", "run:\n\tspark-submit \\\n\t  --conf spark.shop.password={} \\\n\t  app.jar\n"),
        ("Jenkinsfile", "sh '''\n  spark-submit \\\n  --conf spark.shop.password={} app.jar\n'''\n"),
        ("job.py", 'run("""\nspark-submit \\\n  --conf spark.shop.password={} app.jar\n""")\n'),
        ("job.yaml", "args:\n- |\n  tool \\\n    --name x \\\n    --password {} \\\n    --more\n"),
    ],
)
def test_an_option_on_a_line_of_its_own_is_no_comment(tmp_path: Path, name: str, content: str) -> None:
    """Dashes begin a comment of SQL, and the options of a command that goes on over lines."""
    path = tmp_path / name
    path.write_text(content.replace("{}", VALUE))
    (left,) = plan_file(path, Names("app", {}), provider="s").left
    assert "commented out" not in left.why
