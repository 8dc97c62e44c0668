"""``sparkconfig doctor`` on confs: each finding appears with its cause, says what to do, and shows no value."""

import json
import stat
import sys

import pytest

from sparkconfig import __version__
from sparkconfig.checks.doctor import Level, diagnose
from sparkconfig.checks.exit_codes import ExitCode
from sparkconfig.cli.main import main
from unit.checks.doctor.helpers import GOOD, VALUE, errors, found, own_jar

DOCUMENT = (
    '{"rules": [{"key": "spark.executor.memory", "type": "range", "maxValue": "64g", "isOptional": true,'
    ' "message": "ask team data"}]}'
)
RULES = "spark.config.override.policy Rules\nspark.config.override.policy.param.definition "
SUBSTITUTED = f"{GOOD}\nspark.config.substitution.enabled true\n"
CANNOT_START = {
    f"{GOOD}\nspark.shop.password ${{flies:/x:password}}": ("references", "did you mean 'files'?"),
    f"{SUBSTITUTED}spark.shop.host $[envVar=SHOP_ABSENT_HOST]": ("references", "SHOP_ABSENT_HOST"),
    f"{SUBSTITUTED}spark.shop.host $[keyValue=spark.absent]": ("references", "spark.absent"),
    f"{SUBSTITUTED}spark.config.substitution.envVar.allowlist.pattern [": (
        "settings",
        "allowlist pattern of $[envVar=...]",
    ),
    f"{GOOD}\nspark.config.override.policy Rulez": ("policy", "Rulez"),
    f"{GOOD}\n{RULES}{{": ("policy", "policy"),
    f"{GOOD}\n{RULES}" + DOCUMENT.replace("maxV", "mxV"): ("policy", "mxValue"),
    f"{GOOD}\n{RULES}{DOCUMENT}\nspark.executor.memory 99g": ("policy", "ask team data"),
    f"{GOOD}\nspark.config.create.table.policy NoSuch": ("policy", "NoSuch"),
    f"{GOOD}\nspark.config.provider x": ("settings", "did you mean spark.config.providers?"),
}


@pytest.mark.parametrize("confs", CANNOT_START, ids=range(len(CANNOT_START)))
def test_confs_with_which_no_application_starts(examine, confs):
    area, text = CANNOT_START[confs]
    diagnosis = examine(confs)
    assert text in errors(diagnosis)[area]
    assert diagnosis.code is not ExitCode.OK
    said = [each.found for each in diagnosis.findings if each.level is Level.ERROR]
    assert len(said) == len(set(said)) == 1, "one cause, one error"


def test_substitutions_and_policies_that_are_well(examine):
    confs = f"{SUBSTITUTED}spark.shop.host $[envVar/defaultValue=db/=SHOP_ABSENT_HOST]\n{RULES}{DOCUMENT}"
    diagnosis = examine(f"{confs}\nspark.executor.memory 8g")
    assert errors(diagnosis) == {}
    assert found(diagnosis, "references", Level.OK)
    assert found(diagnosis, "policy", Level.OK) == ["a job of type batch may set all of these confs"]


def test_what_a_policy_refuses_has_its_code(examine):
    assert examine(f"{GOOD}\n{RULES}{DOCUMENT}\nspark.executor.memory 99g").code is ExitCode.REFUSED


def test_the_operators_policy(examine, tmp_path, monkeypatch):
    monkeypatch.setattr("sparkconfig.settings.operator_file.check_trust", lambda path, uid=None: None)
    file = tmp_path / "sparkconfig.conf"
    file.write_text(
        "spark.config.providers files\nspark.config.providers.files.class file\n"
        "spark.config.override.policy Rules\nspark.config.override.policy.param.file p.json\n"
    )
    (tmp_path / "p.json").write_text(DOCUMENT)
    assert "ask team data" in errors(examine("spark.executor.memory 99g", operator=file))["policy"]
    assert "policy" not in errors(examine("spark.executor.memory 9g", operator=file))
    (tmp_path / "p.json").write_text("{")
    assert "p.json" in errors(examine("spark.executor.memory 9g", operator=file))["policy"]


def test_a_secret_in_clear(examine):
    diagnosis = examine(f"{GOOD}\nspark.shop.password {VALUE}\nspark.ssl.keyPassword {VALUE}")
    assert errors(diagnosis) == {}
    said = {each.found: each.todo for each in diagnosis.findings if "in clear" in each.found}
    assert list(said) == [
        "spark.shop.password: a secret is in clear",
        "spark.ssl.keyPassword: a secret is in clear",
    ]
    first, second = said.values()
    assert "a reference in its place" in first
    assert "chmod 600" in second
    assert VALUE not in repr(diagnosis)


def test_a_file_of_confs_that_is_not_there(home):
    diagnosis = diagnose([home / "absent.conf"], spark_home=home)
    assert "absent.conf cannot be read" in errors(diagnosis)["confs"]


def test_nothing_is_wrong(examine):
    diagnosis = examine(GOOD)
    assert errors(diagnosis) == {}
    assert diagnosis.code is ExitCode.OK
    assert found(diagnosis, "java", Level.OK)[0].startswith("Java 17.0.15")
    assert found(diagnosis, "spark", Level.OK)[0].startswith("Spark 4.3.0 with Scala 2.13")
    assert found(diagnosis, "side process", Level.OK)[0].startswith(sys.executable)


def test_whatever_is_not_good_says_what_to_do(examine):
    for confs in ("", GOOD, "spark.master yarn", "spark.config.providers gone", *CANNOT_START):
        for each in examine(confs).findings:
            assert each.level is Level.OK or each.todo, each
            assert "as it says" not in each.todo


def test_the_plugin_is_not_on(examine):
    assert found(examine("spark.master local"), "plugin", Level.WARNING)


@pytest.mark.parametrize(
    ("confs", "level"),
    [
        ("spark.master local[4]", Level.OK),
        ("spark.master spark://h:7077", Level.ERROR),
        ("spark.master spark://h:7077\nspark.authenticate true", Level.ERROR),
        ("spark.master yarn\nspark.network.crypto.enabled true", Level.ERROR),
        ("spark.master yarn\nspark.authenticate true\nspark.network.crypto.enabled true", Level.OK),
        ("spark.master yarn\nspark.authenticate TRUE\nspark.ssl.rpc.enabled true", Level.OK),
        (
            "spark.master k8s://h\nspark.authenticate true\nspark.authenticate.enableSaslEncryption true",
            Level.ERROR,
        ),
        ("spark.master local-cluster[1,1,700]", Level.ERROR),
        ("spark.master yarn\nspark.config.rpc.insecure true", Level.WARNING),
        ("spark.app.name x", Level.NOTE),
    ],
)
def test_the_rule_for_rpc(examine, confs, level):
    assert [each.level for each in examine(confs).findings if each.area == "rpc"] == [level]


@pytest.mark.parametrize(
    ("master", "copied"),
    [("k8s://https://host", ["conf/shop.key", "conf/open.key", "hadoop/core-site.xml"]), ("yarn", [])],
)
def test_secret_files_that_spark_copies_into_a_configmap(examine, home, tmp_path, master, copied):
    """Those that are closed to others, and those that a provider reads; never what Spark leaves out."""
    (tmp_path / "hadoop").mkdir()
    closed = ["conf/shop.key", "conf/sparkconfig.conf", "conf/x.template", "hadoop/core-site.xml"]
    for name in [*closed, "conf/open.key", "conf/log4j2.properties"]:
        file = (home if name.startswith("conf") else tmp_path) / name
        file.write_text(VALUE)
        file.chmod(0o600 if name in closed else 0o644)
    provider = "spark.config.providers.sealed.class sealed\nspark.config.providers.sealed.param.key.file"
    confs = f"{GOOD.replace('local[2]', master)}\n{provider} {home}/conf/open.key"
    diagnosis = examine(confs, HADOOP_CONF_DIR=str(tmp_path / "hadoop"))
    said = found(diagnosis, "kubernetes", Level.WARNING)
    assert [name for name in copied if not any(f"{name} " in each for each in said)] == []
    assert len(said) == len(copied)


def test_a_key_that_spark_3_5_ignores_protects_nothing(examine, home):
    (home / "jars" / "spark-core_2.13-4.3.0.jar").rename(home / "jars" / "spark-core_2.12-3.5.9.jar")
    confs = "spark.master yarn\nspark.authenticate true\nspark.ssl.rpc.enabled true"
    (rpc,) = (each for each in examine(confs).findings if each.area == "rpc")
    assert rpc.level is Level.ERROR
    assert "Spark 3.5 ignores spark.ssl.rpc.enabled" in rpc.todo


def test_providers_are_tried_with_what_the_confs_refer_to(examine, tmp_path):
    (tmp_path / "db.properties").write_text(f"password={VALUE}\nuser=alice\n")
    confs = f"{GOOD}\nspark.shop.password ${{files:{tmp_path}/db.properties:password}}"
    diagnosis = examine(confs)
    assert "1 reference of the confs can be answered" in found(diagnosis, "references", Level.OK)[0]
    assert VALUE not in repr(diagnosis)


def test_a_reference_that_is_read_too_early(examine):
    assert (
        "before plugins start" in errors(examine(f"{GOOD}\nspark.app.name ${{files:/x:name}}"))["references"]
    )


def test_a_reference_to_nothing(examine, tmp_path):
    (tmp_path / "db.properties").write_text(f"password={VALUE}\n")
    diagnosis = examine(f"{GOOD}\nspark.shop.user ${{files:{tmp_path}/db.properties:user}}")
    assert errors(diagnosis)["references"].startswith("spark.shop.user: ")
    assert diagnosis.code is ExitCode.NOT_FOUND


def test_what_only_a_driver_can_read_is_not_an_error(examine):
    confs = """
        spark.config.providers keystore
        spark.config.providers.keystore.class hadoop
        spark.config.providers.keystore.param.provider.path jceks://hdfs@nn:8020/keys/shop.jceks
        spark.shop.password ${keystore::shop.password}
    """
    diagnosis = examine(confs)
    assert "driver's JVM" in found(diagnosis, "references", Level.NOTE)[0]
    assert "references" not in errors(diagnosis)


def test_a_forbidden_path(examine, tmp_path):
    (tmp_path / "allowed").mkdir()
    limits = f"spark.config.providers.files.param.allowed.paths {tmp_path}/allowed"
    diagnosis = examine(f"{GOOD}\n{limits}\nspark.shop.user ${{files:/etc/hostname:user}}")
    assert diagnosis.code is ExitCode.DENIED


def test_one_broken_provider_does_not_hide_another(examine):
    broken = "spark.config.providers.broken.class no.such.Provider"
    confs = f"spark.config.providers broken,keys\n{broken}\nspark.config.providers.keys.class envvr"
    said = found(examine(confs), "settings", Level.ERROR)
    assert [name for name in ("no.such.Provider", "envvr") if not any(name in each for each in said)] == []


def test_an_operators_file_that_the_user_can_write(examine, tmp_path):
    file = tmp_path / "sparkconfig.conf"
    file.write_text("spark.config.providers files\nspark.config.providers.files.class file\n")
    file.chmod(stat.S_IRUSR | stat.S_IWUSR | stat.S_IWOTH)
    diagnosis = examine("spark.master local", operator=file)
    assert "operator file" in errors(diagnosis)


def test_settings_of_an_application_beside_the_operators_file(examine, tmp_path, monkeypatch):
    monkeypatch.setattr("sparkconfig.settings.operator_file.check_trust", lambda path, uid=None: None)
    file = tmp_path / "sparkconfig.conf"
    file.write_text("spark.config.providers files\nspark.config.providers.files.class file\n")
    diagnosis = examine("spark.config.rpc.insecure true\nspark.master yarn", operator=file)
    assert "spark.config.rpc.insecure is set by the application" in errors(diagnosis)["operator file"]
    # It does not count either: the operator's word is the only one.
    assert "rpc" in errors(diagnosis)
    assert "names no Python" in found(diagnosis, "side process", Level.ERROR)[0]


def test_the_command(home, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "jdk"))
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    (home / "conf" / "spark-defaults.conf").write_text(
        "spark.master spark://h:7077\n" + GOOD.replace("local[2]", "spark://h")
    )
    assert main(["doctor", "--spark-home", str(home), "--json"]) == ExitCode.CONFIGURATION
    answer = json.loads(capsys.readouterr().out)
    assert answer["ok"] is False
    assert answer["files"] == [str(home / "conf" / "spark-defaults.conf")]
    assert {"area", "level", "found", "todo"} == set(answer["findings"][0])
    assert [each["area"] for each in answer["findings"] if each["level"] == "error"] == ["rpc"]
    (home / "conf" / "spark-defaults.conf").write_text(GOOD)
    assert main(["doctor", "--spark-home", str(home), "--quiet"]) == 0
    assert "would start if it finds the jar" in capsys.readouterr().out.splitlines()[-1]
    own_jar(home / "jars" / f"sparkconfig_2.13-{__version__}.jar")
    assert main(["doctor", "--spark-home", str(home), "--quiet"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("0 errors")
    assert main(["doctor", "--spark-home", str(home)]) == 0
    assert capsys.readouterr().out.splitlines()[-1].endswith(": a job with these confs would start")
    (home / "conf" / "spark-defaults.conf").write_text("spark.master local\n")
    assert main(["doctor", "--spark-home", str(home)]) == 0
    assert capsys.readouterr().out.splitlines()[-1].endswith("would start without sparkconfig")
    (home / "conf" / "spark-defaults.conf").write_text(f"{GOOD}spark.shop.password ${{nobody:a:b}}\n")
    assert main(["doctor", "--spark-home", str(home)]) != 0
    assert "a job would not start" in capsys.readouterr().out.splitlines()[-1]


def test_a_misplaced_reference_is_one_error_and_a_default_of_a_shell_is_none(examine):
    yarn = GOOD.replace("local[2]", "yarn") + "\nspark.config.rpc.insecure true"
    yarn += "\nspark.yarn.appMasterEnv.DATA ${HOME:-/tmp}/data\nspark.executorEnv.LEVEL ${LEVEL:=3}"
    assert errors(examine(yarn)) == {}
    diagnosis = examine(f"{yarn}\nspark.yarn.appMasterEnv.TOKEN ${{nobody:a:b}}")
    named = [each.found for each in diagnosis.findings if each.level is Level.ERROR]
    assert [text.partition(":")[0] for text in named] == ["spark.yarn.appMasterEnv.TOKEN"], named
