# ruff: noqa: A002 - the names of the KIP
"""Built-in types, their allowlists, and custom types."""

import os

import pytest

from sparkconfig import Secret
from sparkconfig.errors import AccessDeniedError, ConfigurationError, SubstitutionError
from sparkconfig.substitution import (
    FROM_VALUES,
    Allowlists,
    RedactableObject,
    SubstitutableValues,
    SubstituterType,
    SubstituterTypeHelper,
)


def value_of(text, *, values=None, **options):
    return SubstitutableValues({"a": text, **(values or {})}, **options).get_substitution_result("a")


def error_of(text, kind=SubstitutionError, **options):
    with pytest.raises(kind) as caught:
        value_of(text, **options)
    assert caught.value.__cause__ is None
    return str(caught.value)


class TestEnvVar:
    def test_environment(self, monkeypatch):
        monkeypatch.setenv("SC_TEST_VAR", "v")
        assert value_of("$[envVar=SC_TEST_VAR]").value == "v"
        assert value_of("$[envVar=X]", environ={"X": ""}).value == ""
        assert "does not exist: SC_TEST_VAR" in error_of("$[envVar=SC_TEST_VAR]", environ={})

    def test_pattern_must_match_the_whole_name(self):
        allow = Allowlists(env_pattern="APP_.*")
        environ = {"APP_A": "1", "NOT_APP_A": "2"}
        assert value_of("$[envVar=APP_A]", environ=environ, allow=allow).value == "1"
        assert value_of("$[envVar/defaultValue=D/=APP_B]", environ=environ, allow=allow).value == "D"
        for name in ("NOT_APP_A", "XAPP_A", "APP_" + "x" * 5000):
            message = error_of(f"$[envVar/defaultValue=D/={name}]", environ=environ, allow=allow)
            assert "allowlist" in message


class TestSysProp:
    def test_only_the_given_map(self):
        assert value_of("$[sysProp=x.y]", sysprops={"x.y": "v"}).value == "v"
        assert "does not exist: x.y" in error_of("$[sysProp=x.y]")
        assert value_of("$[sysProp/defaultValue=D/=]", sysprops={"": "never"}).value == "D"

    def test_pattern(self):
        allow = Allowlists(sysprop_pattern=r"app\..*")
        assert value_of("$[sysProp=app.x]", sysprops={"app.x": "v"}, allow=allow).value == "v"
        assert "allowlist" in error_of("$[sysProp=java.home]", sysprops={"java.home": "v"}, allow=allow)


class TestFile:
    @pytest.fixture
    def root(self, tmp_path):
        (tmp_path / "f").write_bytes(b"line\n")
        (tmp_path / "bad").write_bytes(b"\xffa\xe2\x82")
        (tmp_path / "bom").write_bytes(b"\xef\xbb\xbfx")
        (tmp_path / "d").mkdir()
        (tmp_path / "link").symlink_to("f")
        return tmp_path

    @pytest.mark.parametrize(
        ("name", "expected"),
        [("f", "line\n"), ("link", "line\n"), ("bad", "\ufffda\ufffd"), ("bom", "\ufeffx")],
    )
    def test_content(self, root, name, expected):
        assert value_of(f"$[file={root}/{name}]").value == expected

    def test_relative_to_the_working_directory(self, root, monkeypatch):
        monkeypatch.chdir(root)
        assert value_of("$[file=f]").value == "line\n"

    @pytest.mark.parametrize("path", ["missing", "d", "f/below", "fifo", "\x00", "dangling"])
    def test_what_is_not_a_regular_file_does_not_exist(self, root, path):
        os.mkfifo(root / "fifo")
        (root / "dangling").symlink_to("nowhere")
        for each in (f"{root}/{path}", "", "/dev/null", "~/f"):
            assert value_of(f"$[file/defaultValue=D/={each}]").value == "D"

    def test_at_most_one_mebibyte(self, root):
        (root / "big").write_bytes(b"x" * (1 << 20))
        assert len(value_of(f"$[file={root}/big]").value) == 1 << 20
        (root / "big").write_bytes(b"x" * ((1 << 20) + 1))
        assert "more than 1048576 bytes" in error_of(f"$[file/defaultValue=D/={root}/big]")

    def test_read_once_in_a_generation(self, root):
        values = SubstitutableValues({"a": f"$[file={root}/f]", "b": f"$[file={root}/f]"})
        values.get_substitution_result("a")
        (root / "f").write_text("new")
        assert values.get_substitution_result("b").value == "line\n"
        assert value_of(f"$[file={root}/f]").value == "new"

    def test_allowed_paths(self, root):
        (root / "d" / "in").write_text("in")
        (root / "d2").mkdir()
        (root / "d2" / "in").write_text("out")
        (root / "d" / "out").symlink_to(root / "f")
        allow = Allowlists(file_paths=[f"{root}/d", f"{root}/bom"])
        assert value_of(f"$[file={root}/d/in]", allow=allow).value == "in"
        assert value_of(f"$[file={root}/d2/../d/in]", allow=allow).value == "in"
        assert value_of(f"$[file={root}/bom]", allow=allow).value == "\ufeffx"
        assert value_of(f"$[file/defaultValue=D/={root}/d/none]", allow=allow).value == "D"
        for path in ("f", "d2/in", "d/../f", "d/out", "missing", "bom2", ""):
            message = error_of(f"$[file/defaultValue=D/={root}/{path}]", allow=allow)
            assert "allowlist" in message
        assert value_of(f"$[file={root}/f]", allow=Allowlists(file_paths=["/"])).value == "line\n"

    @pytest.mark.parametrize("limited", [True, False])
    @pytest.mark.parametrize("proc", [True, False])
    def test_a_directory_that_is_swapped_for_a_link_does_not_lead_out(self, root, monkeypatch, limited, proc):
        """Also on a system without ``/proc``."""
        (root / "d" / "sub").mkdir()
        (root / "out").mkdir()
        for folder, text in {"d/sub": "inside", "out": "OUTSIDE"}.items():
            (root / folder / "f").write_text(text)
        look, readlink = os.stat, os.readlink

        def swapped(path, *args, **named):
            status = look(path, *args, **named)
            if str(path).endswith("/d/sub/f"):
                (root / "d" / "sub").rename(root / "d" / "away")
                (root / "d" / "sub").symlink_to(root / "out")
            return status

        def without_proc(path, **named):
            if str(path).startswith("/proc"):
                raise FileNotFoundError(path)
            return readlink(path, **named)

        allow = Allowlists(file_paths=[f"{root}/d"] if limited else None)
        with monkeypatch.context() as patch:
            patch.setattr(os, "stat", swapped)
            if not proc:
                patch.setattr(os, "readlink", without_proc)
            message = error_of(f"$[file/defaultValue=D/={root}/d/sub/f]", allow=allow)
        assert "cannot be read" in message

    @pytest.mark.parametrize("paths", [["relative"], "/a/text"])
    def test_allowed_paths_are_a_list_of_absolute_paths(self, paths):
        with pytest.raises(ConfigurationError):
            Allowlists(file_paths=paths)


class Echo(SubstituterType):
    def do_substitution(self, type, modifiers, identifier, substitutable_values):
        return RedactableObject(f"{type}|{list(modifiers)}|{identifier}", "redact" in modifiers)


class Helped(SubstituterTypeHelper):
    def retrieve_result(
        self, type, identifier, redact, additional_flags, additional_args, substitutable_values
    ):
        if identifier == "none":
            return None
        return RedactableObject(f"{type}|{identifier}|{sorted(additional_flags)}|{dict(additional_args)}")


class Delegating(SubstituterType):
    """The KIP's other way to use the helper."""

    def __init__(self):
        self.helper = Helped()

    def do_substitution(self, type, modifiers, identifier, substitutable_values):
        return self.helper.do_substitution(type, modifiers, identifier, substitutable_values)


class Asking(SubstituterType):
    def do_substitution(self, type, modifiers, identifier, substitutable_values):
        return substitutable_values.get_substitution_result(identifier, required=True)


class Null(SubstituterType):
    def do_substitution(self, type, modifiers, identifier, substitutable_values):
        return None


class Plain(SubstituterType):
    def do_substitution(self, type, modifiers, identifier, substitutable_values):
        return "text"


class Raising(SubstituterType):
    def do_substitution(self, type, modifiers, identifier, substitutable_values):
        raise ValueError("hunter2")


class Denied(SubstituterType):
    def do_substitution(self, type, modifiers, identifier, substitutable_values):
        raise AccessDeniedError("the store says no")


class Unmakeable(SubstituterType):
    def __init__(self, needed):
        self.needed = needed

    def do_substitution(self, type, modifiers, identifier, substitutable_values):
        return RedactableObject(self.needed)


def custom(text, cls=Echo, **options):
    return value_of(text, definitions={"xSubstituterType": cls}, **options)


class TestCustomTypes:
    def test_helper(self):
        assert custom("$[x/ f /g/n= v/=id]", Helped).value == "x|id|['f', 'g']|{'n': ' v'}"
        assert custom("$[x/defaultValue=D/=none]", Helped).value == "D"
        assert custom("$[x/defaultKey=k/=none]", Helped, values={"k": "$[x=i]"}).value == "x|i|[]|{}"
        assert custom("$[x/redact/=id]", Helped).redacted
        assert "no default" in error_of("$[x=none]", definitions={"xSubstituterType": Helped})

    def test_delegating_to_the_helper(self):
        assert custom("$[x/f/=id]", Delegating).value == "x|id|['f']|{}"
        found = custom("$[x/defaultKey=k/fromValueOfKey/=l]", Delegating, values={"k": "K", "l": "none"})
        assert found.value == "K"

    def test_a_definition_beats_a_built_in_type(self):
        assert value_of("$[file=/x]", definitions={"fileSubstituterType": Echo}).value == "file|[]|/x"

    def test_class_by_name(self):
        for name in (f"{__name__}:Echo", f"{__name__}.Echo"):
            assert custom("$[x=id]", name).value == "x|[]|id"

    @pytest.mark.parametrize(
        "definition",
        [
            "no.such:Thing",
            "os:nothing",
            "",
            "builtins:str",
            dict,
            7,
            Secret("s"),
            Unmakeable,
        ],
    )
    def test_a_wrong_definition_is_a_configuration_error_that_names_the_key(self, definition):
        message = error_of("$[x=id]", ConfigurationError, definitions={"xSubstituterType": definition})
        assert "xSubstituterType" in message

    def test_values_define_no_types_unless_asked(self):
        values = {"xSubstituterType": f"{__name__}:Echo"}
        assert value_of("$[x=id]", values=values).value == "$[x=id]"
        assert value_of("$[x=id]", values=values, definitions={}).value == "$[x=id]"
        assert value_of("$[x=id]", values=values, definitions=FROM_VALUES).value == "x|[]|id"

    def test_definitions_in_values_are_raw_and_listed(self):
        values = {"xSubstituterType": "$[sysProp=cls]", "b": "$[keyValue=xSubstituterType]"}
        message = error_of("$[x=id]", ConfigurationError, values=values, definitions=FROM_VALUES)
        assert "xSubstituterType" in message
        values["xSubstituterType"] = f"{__name__}:Echo"
        instance = SubstitutableValues({"a": "$[x=id]", **values}, definitions=FROM_VALUES)
        instance.get_substitution_result("a")
        assert sorted(instance.substitution_results) == ["a", "xSubstituterType"]

    def test_a_class_named_in_a_secret_is_refused(self):
        values = {"xSubstituterType": Secret("hunter2:X")}
        assert "hunter2" not in error_of(
            "$[x=id]", ConfigurationError, values=values, definitions=FROM_VALUES
        )

    @pytest.mark.parametrize("cls", [Null, Plain])
    def test_it_must_answer_by_contract(self, cls):
        assert cls.__name__ in error_of("$[x=id]", definitions={"xSubstituterType": cls})

    def test_its_errors(self):
        message = error_of("$[x=id]", definitions={"xSubstituterType": Raising})
        assert "ValueError" in message
        assert "hunter2" not in message
        error_of("$[x=id]", AccessDeniedError, definitions={"xSubstituterType": Denied})

    def test_asking_for_other_keys(self):
        assert custom("$[x=b]", Asking, values={"b": "$[x=c]", "c": "C"}).value == "C"
        assert "Circular reference" in error_of(
            "$[x=b]", values={"b": "$[x=a]"}, definitions={"xSubstituterType": Asking}
        )

    def test_asking_too_deep_is_an_error_not_a_crash(self):
        values = {f"k{i}": f"$[x=k{i + 1}]" for i in range(5000)}
        message = error_of("$[x=k0]", values=values, definitions={"xSubstituterType": Asking})
        assert "deep" in message

    def test_after_too_deep_all_goes_on(self):
        values = {"a": "$[x=k0]", "b": "$[x=c]", "c": "C", **{f"k{i}": f"$[x=k{i + 1}]" for i in range(500)}}
        instance = SubstitutableValues(values, definitions={"xSubstituterType": Asking})
        with pytest.raises(SubstitutionError):
            instance.get_substitution_result("a")
        assert instance.get_substitution_result("b").value == "C"


@pytest.mark.timeout(60)  # this expression over this name would not end
def test_a_regular_expression_meets_no_long_name():
    allow = Allowlists(env_pattern="(a+)+b")
    error_of("$[envVar=" + "a" * 100_000 + "]", allow=allow)


@pytest.mark.parametrize("cls", [Asking, Delegating])
def test_dependencies_through_custom_types(cls):
    text = "$[x=b]" if cls is Asking else "$[x/defaultKey=b/=none]"
    values = SubstitutableValues(
        {"a": text, "b": "$[keyValue=c]", "c": "C"}, definitions={"xSubstituterType": cls}
    )
    assert values.get_substitution_result("a").value == "C"
    assert values.dependencies == {"a": {"b"}, "b": {"c"}}
