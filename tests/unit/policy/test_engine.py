"""What is an override, modes, and everything else that the engine decides."""

import json

import pytest

from sparkconfig.agent import policy_calls
from sparkconfig.errors import ConfigurationError
from sparkconfig.policy import ConfigValue, OverridePolicy
from sparkconfig.policy.engine import PolicyEngine
from sparkconfig.policy.keys.overrides import PROTECTED, Overrides
from sparkconfig.settings.schema import parse
from unit.policy.helpers import CANARY, denied, engine, request, rules

# What a PySpark batch job has in its conf on 4.3, with our plugin.
ORDINARY = {
    "spark.app.id": "app-1",
    "spark.app.name": "job",
    "spark.app.startTime": "1",
    "spark.app.submitTime": "1",
    "spark.driver.host": "h",
    "spark.driver.port": "4711",
    "spark.executor.id": "driver",
    "spark.master": "spark://h:7077",
    "spark.plugins": "io.sparkconfig.ConfigPlugin",
    "spark.rdd.compress": "True",
    "spark.serializer.objectStreamReset": "100",
    "spark.submit.deployMode": "client",
    "spark.submit.pyFiles": "",
    "spark.ui.showConsoleProgress": "true",
    "spark.executor.memory": "2g",
    "spark.sql.shuffle.partitions": "8",
    "spark.jars": "/x.jar",
    "spark.driver.extraJavaOptions": "-Djava.net.preferIPv6Addresses=false -XX:+IgnoreUnrecognizedVMOptions"
    " --add-modules=jdk.incubator.vector --add-opens=java.base/java.lang=ALL-UNNAMED"
    " --add-opens=java.base/sun.nio.ch=ALL-UNNAMED --add-opens=java.security.jgss/sun.security.krb5=ALL-UNNAMED"
    " -Djdk.reflect.useDirectMethodHandle=false -Dio.netty.tryReflectionSetAccessible=true"
    " --enable-native-access=ALL-UNNAMED",
}


def test_none_leaves_an_ordinary_job_runnable(tmp_path):
    decision = engine(tmp_path).check(request(ORDINARY, complete=True))
    assert decision.allowed, decision.message
    decision = engine(tmp_path).check(
        request({"header": "true", "path": "/x", "password": "p"}, scope="source")
    )
    assert decision.allowed


def test_what_spark_sets_by_itself_is_meant_by_no_pattern(tmp_path):
    """SparkContext of 4.0 to 4.2 sets two confs of S3A in every application."""
    sizes = ("min.seek.size", "max.merged.size")
    confs = ORDINARY | {f"spark.hadoop.fs.s3a.vectored.read.{name}": "128K" for name in sizes}
    forbidding = engine(
        tmp_path, rules({"key": "spark.hadoop.fs.*", "type": "forbidden"}), override__policy="Rules"
    )
    assert forbidding.check(request(confs, complete=True)).allowed
    assert not forbidding.check(
        request(confs | {"spark.hadoop.fs.s3a.access.key": "AK"}, complete=True)
    ).allowed


def test_what_clients_and_servers_set_in_each_session_is_not_an_override(tmp_path):
    sent = {
        "set:hiveconf:hive.server2.thrift.resultset.default.fetch.size": "1000",
        "spark.sql.binaryOutputStyle": "UTF-8",
        "spark.sql.datetime.java8API.enabled": "true",
    }
    each = "hive.server2.thrift.resultset.default.fetch.size"
    operators = {"spark.hadoop.hive.server2.thrift.resultset.default.fetch.size": "10"}
    found = engine(tmp_path, rules({"key": "*", "type": "forbidden"}), defaults=operators)
    assert found.check(request(sent, scope="session", job_type="sql")).allowed
    assert found.check(
        request({each: operators[f"spark.hadoop.{each}"]}, scope="session", job_type="sql")
    ).allowed


@pytest.mark.parametrize(
    ("key", "operators", "guesses"),
    [
        ("spark.acme.region", "eu-west", ["eu-west", "us-east"]),
        ("spark.acme.wait", "5m", ["5m", "300s", "300000ms", "6m"]),
        ("spark.hadoop.fs.s3a.endpoint", "https://store", ["https://store", "https://other"]),
        ("spark.config.connect.user.trusted", "true", ["true", "TRUE", "false"]),
        ("spark.jars.packages", "a:b:1,c:d:2", ["a:b:1,c:d:2", "c:d:2,a:b:1", "a:b:1"]),
        ("spark.sql.catalog.lake.uri", "thrift://store:9083", ["thrift://store:9083", "thrift://other:9083"]),
    ],
)
@pytest.mark.parametrize("scope", ["session", "catalog", "source", "sink"])
def test_a_guess_at_the_operators_value_is_answered_like_any_other(tmp_path, key, operators, guesses, scope):
    rule = {"key": "*", "type": "forbidden", "scopes": [scope]}
    found = engine(tmp_path, rules(rule), defaults={key: operators})
    for job_type in ("connect", "sql"):
        told = {
            str(found.check(request({key: text}, scope=scope, job_type=job_type)).message) for text in guesses
        }
        assert len(told) == 1
        assert "None" not in told
    assert found.check(request({key: operators}, scope=scope, job_type="batch")).allowed


def test_reflection_is_protected_on_shared_servers_alone(tmp_path):
    asked = {"sparkconfig.reflect": "java.lang.Math.abs"}
    listed = rules({"key": "sparkconfig.reflect", "type": "allowlist", "values": ["java.lang.Math.abs"]})
    for job_type in ("connect", "sql"):
        for policy in ("None", "Principal", "Rules"):
            found = engine(tmp_path, rules() if policy == "Rules" else None, override__policy=policy)
            assert denied(found.check(request(asked, scope="session", job_type=job_type))) == [*asked]
        allowing = engine(tmp_path, listed, override__policy="Rules")
        assert allowing.check(request(asked, scope="session", job_type=job_type)).allowed
        other = {"sparkconfig.reflect": "java.lang.System.getProperty"}
        assert denied(allowing.check(request(other, scope="session", job_type=job_type))) == [*other]
    assert engine(tmp_path).check(request(asked, scope="session", job_type="batch")).allowed


@pytest.mark.parametrize("name", [name.replace("*", "x") for name in PROTECTED])
def test_none_refuses_what_is_protected(tmp_path, name):
    decision = engine(tmp_path).check(request({name: CANARY}))
    assert denied(decision) == [name]
    assert CANARY not in decision.message
    assert engine(tmp_path, override__policy="All").check(request({name: CANARY})).allowed


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("spark.plugins", "io.sparkconfig.ConfigPlugin,com.evil.Plugin"),
        ("spark.plugins", "io.sparkconfig.Evil"),
        ("spark.driver.extraJavaOptions", "-XX:+IgnoreUnrecognizedVMOptions -javaagent:/evil.jar"),
        ("spark.driver.extraJavaOptions", "-Djava.net.preferIPv6Addresses=false;x"),
        ("spark.executor.defaultJavaOptions", "-Dspark.plugins="),
        ("spark.blacklist.enabled", "true"),
    ],
)
def test_what_hides_behind_our_own_names_is_seen(tmp_path, name, value):
    checker = engine(tmp_path, defaults={"spark.excludeOnFailure.enabled": "false"})
    assert denied(checker.check(request({name: value}))) == [name]


def test_the_operators_own_value_is_not_an_override(tmp_path):
    defaults = {
        "spark.executor.memory": "4g",
        "spark.sql.extensions": "io.delta.A, io.delta.B",
        "spark.hadoop.fs.s3a.endpoint": "e",
        "spark.speculation": "true",
        "spark.driver.port": "0",
    }
    checker = engine(tmp_path, defaults=defaults)
    same = {
        "spark.executor.memory": "4096",
        "spark.sql.extensions": "io.delta.B,io.delta.A,io.sparkconfig.ConfigExtensions",
        "fs.s3a.endpoint": "e",
        "spark.speculation": "TRUE",
        "spark.driver.port": "51234",
    }
    assert checker.check(request(same)).allowed
    other = {
        "spark.executor.memory": "5g",
        "spark.sql.extensions": "io.delta.A",
        "fs.s3a.endpoint": "f",
        "spark.speculation": None,
    }
    assert denied(checker.check(request(other))) == list(other)


def test_sparkconfigs_own_settings_are_the_operators_alone(tmp_path):
    settings = {"providers": "files", "override__policy": "All"}
    checker = engine(tmp_path, **settings)
    decision = checker.check(
        request({"spark.config.providers": "mine", "SPARK.config.override.mode": "warn", "spark.x": "1"})
    )
    assert denied(decision) == ["spark.config.providers", "SPARK.config.override.mode"]
    assert checker.check(request({"spark.config.providers": "files"})).allowed
    own = engine(tmp_path, rules({"key": "spark.config.*", "type": "unlimited"}))
    assert not own.check(request({"spark.config.providers": "mine"})).allowed


def test_without_an_operator_the_job_owns_its_configuration():
    confs = {"spark.config.providers": "", "spark.plugins": "io.sparkconfig.ConfigPlugin,x.Y"}
    checker = PolicyEngine.from_operator(confs)
    assert checker.check(request(confs, complete=True)).allowed
    strict = PolicyEngine.from_operator({"spark.config.override.policy": "None"})
    assert not strict.check(request({"spark.plugins": "x.Y"})).allowed


def test_every_problem_of_the_configuration_is_reported_at_once(tmp_path):
    with pytest.raises(ConfigurationError) as caught:
        engine(
            tmp_path,
            override__mode="enforc",
            override__policy="Nonee",
            create__table__policy="Rulez",
            audit__fil="/x",
        )
    for word in ("override.mode", "Nonee", "Rulez", "audit.fil"):
        assert word in str(caught.value)


@pytest.mark.parametrize(
    "settings",
    [
        {"worker__job__types": "bach"},
        {"create__table__policy__param__file": "x"},
        {"create__table__policy__typo": "x"},
    ],
)
def test_wrong_settings(tmp_path, settings):
    with pytest.raises(ConfigurationError):
        engine(tmp_path, **settings)


def test_warn_goes_on_and_says_what_it_would_refuse(tmp_path, caplog):
    checker = engine(tmp_path, override__mode="warn")
    decision = checker.check(request({"spark.plugins": CANARY}))
    assert decision.allowed
    assert len(decision.warned) == 1
    assert "spark.plugins" in caplog.text
    assert CANARY not in caplog.text


# Job types


def test_the_operators_word_on_job_types_wins(tmp_path):
    settings = {"override__policy": "None", "override__policy__batch": "All"}
    props = {"spark.plugins": "x"}
    assert engine(tmp_path, **settings).check(request(props)).allowed
    assert not engine(tmp_path, job__type="interactive", **settings).check(request(props)).allowed


def test_a_streaming_query_is_checked_as_streaming(tmp_path):
    checker = engine(
        tmp_path,
        rules(
            {"key": "spark.acme.x", "type": "forbidden", "jobTypes": ["streaming"]},
            {"key": "spark.acme.y", "type": "forbidden", "jobTypes": ["batch", "connect"]},
        ),
    )
    props = {"spark.acme.x": "1", "spark.acme.y": "1"}
    assert denied(checker.check(request(props))) == ["spark.acme.y"]
    assert denied(checker.check(request(props), streaming=True)) == ["spark.acme.x"]
    # A shared server's rules cannot be left behind by reading a stream.
    asked = request(props, job_type="connect")
    assert denied(checker.check(asked, streaming=True)) == ["spark.acme.x", "spark.acme.y"]


# Policies of other people


class Broken(OverridePolicy):
    def __init__(self, answer):
        self.answer = answer

    def validate(self, request):
        return self.answer(request)


def raising(request):
    raise RuntimeError(CANARY)


@pytest.mark.parametrize("answer", [raising, lambda r: [], lambda r: [ConfigValue("other")], lambda r: None])
def test_a_policy_that_breaks_its_contract_refuses(answer):
    policy = Broken(answer)
    checker = PolicyEngine({"batch": policy}, parse({}), Overrides({}, owned=True))
    decision = checker.check(request({"spark.x": "1"}))
    assert not decision.allowed
    assert CANARY not in decision.message
    # Other requests go on.
    policy.answer = lambda r: [ConfigValue(name) for name in r.props]
    assert checker.check(request({"spark.x": "1"})).allowed


class AllBroken(Broken):
    def names(self, request, name):
        raise RuntimeError(CANARY)

    def defaults(self, request):
        raise RuntimeError(CANARY)

    def check_reference(self, request, use):
        raise RuntimeError(CANARY)


def test_a_policy_that_fails_everywhere_refuses_everywhere():
    checker = PolicyEngine({"batch": AllBroken(raising)}, parse({}), Overrides({}, owned=True))
    decision = checker.check(request({"spark.x": "${a:b}", "spark.y": "1"}, complete=True))
    assert len(decision.violations) == 3
    assert CANARY not in decision.message


def test_a_custom_policy_sees_canonical_names_and_everything_but_spark_s_own(tmp_path):
    seen = {}

    def answer(request):
        seen.update(request.props)
        return [
            ConfigValue(name, value, ("no",) if name == "spark.executor.memoryOverhead" else ())
            for name, value in request.props.items()
        ]

    checker = PolicyEngine({"batch": Broken(answer)}, parse({}), Overrides({}, owned=True))
    decision = checker.check(
        request({"spark.yarn.executor.memoryOverhead": "1g", "spark.plugins": "io.sparkconfig.ConfigPlugin"})
    )
    assert set(seen) == {"spark.executor.memoryOverhead"}
    assert denied(decision) == ["spark.yarn.executor.memoryOverhead"]
    assert "spark.executor.memoryOverhead" in decision.violations[0]


def test_explanation_covers_every_property(tmp_path):
    checker = engine(
        tmp_path,
        rules({"key": "spark.a", "type": "unlimited"}, {"key": "spark.b", "type": "forbidden"}),
        defaults={"spark.c": "1"},
    )
    props = {"spark.a": "1", "spark.b": "1", "spark.c": "1", "spark.d": "1", "spark.config.x": "1"}
    verdicts = [(item.subject, item.verdict) for item in checker.check(request(props)).explanation]
    assert verdicts == [
        ("spark.a", "allowed"),
        ("spark.b", "denied"),
        ("spark.c", "default"),
        ("spark.d", "free"),
        ("spark.config.x", "denied"),
    ]


# The JVM's questions


@pytest.mark.parametrize(
    "question",
    [
        "[]",
        "null",
        '{"job_type": "bach"}',
        '{"scope": "x"}',
        '{"op": "x"}',
        '{"props": 5}',
        '{"op": "create_table"}',
        '{"op": "create_table", "name": "t", "columns": 5}',
    ],
)
def test_a_broken_question_gets_an_answer_that_refuses(tmp_path, question):
    answer = policy_calls.answer(engine(tmp_path), json.loads(question))
    assert answer["ok"] is False
    assert answer["message"]
    assert CANARY not in json.dumps(answer)


def test_java_options_that_only_protect_are_free_and_stay_the_operators(tmp_path):
    """The templates of servers set them; whoever takes away what the operator set overrides it."""
    protecting = "-XX:+DisableAttachMechanism -XX:-HeapDumpOnOutOfMemoryError"
    for key in ("spark.driver.extraJavaOptions", "spark.executor.extraJavaOptions"):
        made = engine(tmp_path)
        assert made.check(request({key: protecting})).allowed
        assert not made.check(request({key: f"{protecting} -agentlib:jdwp"})).allowed
        assert not made.check(request({key: "-XX:-DisableAttachMechanism"})).allowed
        made = engine(tmp_path, defaults={key: protecting})
        assert made.check(request({key: protecting})).allowed
        assert not made.check(request({key: ""})).allowed
