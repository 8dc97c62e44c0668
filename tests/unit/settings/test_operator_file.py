"""The operator's file: where it stands, and who may have written it."""

import os
import stat

import pytest

from sparkconfig.errors import ConfigurationError
from sparkconfig.settings.operator_file import NAME, REQUIRED, check_trust, find, load

OTHER = 54321
"""A user who is neither root nor this process's."""

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files to others")


@pytest.fixture
def places(tmp_path):
    first, home, user = tmp_path / "etc", tmp_path / "home" / "conf", tmp_path / "user"
    for folder in (first, home, user):
        folder.mkdir(parents=True)
    return first, home, user, {"SPARK_HOME": str(home.parent), "SPARK_CONF_DIR": str(user)}


def test_the_first_place_that_has_it_counts(places):
    first, home, user, environ = places
    assert find(environ, first) is None
    for folder in (user, home, first):
        (folder / NAME).write_text("")
        assert find(environ, first) == folder / NAME
    assert find({}, first) == first / NAME


def test_a_dangling_link_does_not_mean_that_there_is_no_operator(places):
    first, _, _, environ = places
    (first / NAME).symlink_to(first / "gone")
    assert find(environ, first) == first / NAME
    with pytest.raises(ConfigurationError, match="cannot be read"):
        load(first / NAME)


def test_the_installers_marker_makes_a_missing_file_an_error(places):
    first, _, _, environ = places
    (first / REQUIRED).write_text("")
    with pytest.raises(ConfigurationError, match="missing"):
        find(environ, first)


@pytest.fixture
def file(tmp_path):
    """A file that belongs to root in directories of root, whoever runs the tests."""
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_mode & stat.S_IWOTH and not folder.stat().st_mode & stat.S_ISVTX:
            pytest.skip("the temporary directory can be written by everybody")
    path = tmp_path / NAME
    path.write_text("spark.config.override.policy = All\nspark.executor.memory=4g\n")
    path.chmod(0o644)
    return path


@needs_root
def test_what_root_owns_binds_other_users(file):
    found = load(file, uid=OTHER)
    assert found.settings == {"spark.config.override.policy": "All"}
    assert found.defaults == {"spark.executor.memory": "4g"}


@pytest.mark.parametrize(
    ("directory", "owner", "mode", "said"),
    [
        pytest.param(False, (OTHER, OTHER), 0o644, f"uid {OTHER}.*chown root", marks=needs_root),
        pytest.param(True, (OTHER, OTHER), 0o755, r"directory .*replace the file", marks=needs_root),
        pytest.param(False, (0, OTHER), 0o664, "chmod g-w", marks=needs_root),
        (False, None, 0o666, "chmod o-w"),
        (False, None, 0o646, "chmod o-w"),
        (True, None, 0o777, "chmod o-w"),
    ],
)
def test_what_others_could_have_written_is_refused(file, directory, owner, mode, said):
    path = file.parent if directory else file
    if owner:
        os.chown(path, *owner)
    path.chmod(mode)
    with pytest.raises(ConfigurationError, match=said):
        load(file, uid=OTHER if owner else 0)


@needs_root
def test_a_link_is_checked_by_what_it_points_to(file, tmp_path_factory):
    target = tmp_path_factory.mktemp("theirs") / "real.conf"
    target.write_text("")
    os.chown(target, OTHER, OTHER)
    file.unlink()
    file.symlink_to(target)
    with pytest.raises(ConfigurationError, match=r"real\.conf"):
        load(file, uid=OTHER)


@needs_root
@pytest.mark.parametrize("theirs", ["directory", "link", "last link"])
def test_every_link_on_the_way_is_checked(file, tmp_path_factory, theirs):
    """/first -> /second/link -> /third/real.conf: who owns /second, or a link, chooses the file."""
    folders = {name: tmp_path_factory.mktemp(name) for name in ("first", "second", "third")}
    real = folders["third"] / "real.conf"
    real.write_text("")
    (folders["third"] / "folder").mkdir()
    link = folders["second"] / "link"
    link.symlink_to(folders["third"] / "folder")
    file.unlink()
    file.symlink_to(link / ".." / "real.conf")
    assert load(file, uid=OTHER).settings == {}
    given = {"directory": folders["second"], "link": link, "last link": file}[theirs]
    os.chown(given, OTHER, OTHER, follow_symlinks=False)
    with pytest.raises(
        ConfigurationError, match=f"{given} on the path of the operator's file belongs to the user"
    ):
        load(file, uid=OTHER)


@needs_root
def test_root_is_warned_that_nothing_binds_it(file, caplog):
    check_trust(file, uid=0)
    assert "runs as root" in caplog.text


@needs_root
def test_the_clusters_defaults_count_as_the_operators(file):
    defaults = file.parent / "spark-defaults.conf"
    defaults.write_text("spark.executor.memory 1g\nspark.speculation true\nspark.config.unresolved keep\n")
    file.write_text("spark.config.defaults.file=spark-defaults.conf\nspark.executor.memory=4g\n")
    found = load(file, uid=OTHER)
    assert found.defaults == {"spark.executor.memory": "4g", "spark.speculation": "true"}
    assert set(found.settings) == {"spark.config.defaults.file"}
    os.chown(defaults, OTHER, OTHER)
    with pytest.raises(ConfigurationError, match="spark-defaults"):
        load(file, uid=OTHER)


def test_a_malformed_file_says_what_is_wrong_without_its_text(file):
    file.write_bytes(b"a=\xff s3cret-canary\n")
    with pytest.raises(ConfigurationError, match="UTF-8") as caught:
        load(file, check=False)
    assert "canary" not in str(caught.value)


def test_a_directory_is_not_a_file(tmp_path):
    (tmp_path / NAME).mkdir()
    with pytest.raises(ConfigurationError, match="not a regular file"):
        load(tmp_path / NAME, uid=0)


@needs_root
def test_a_policy_document_stands_beside_the_file_and_is_as_safe(file, monkeypatch):
    (file.parent / "p.json").write_text("{}")
    key = "spark.config.override.policy.sql.param.file"
    file.write_text(f"{key}=p.json\n")
    monkeypatch.chdir("/")
    assert load(file, uid=OTHER).settings[key] == str(file.parent / "p.json")
    os.chown(file.parent / "p.json", OTHER, OTHER)
    with pytest.raises(ConfigurationError, match=r"p\.json belongs to the user"):
        load(file, uid=OTHER)


def test_every_command_looks_at_the_same_places(tmp_path, monkeypatch, capsys):
    """A dangling link or the installer's marker stops a driver: no command may go on as if there were no operator."""
    from sparkconfig.cli.main import main

    home = tmp_path / "home" / "conf"
    home.mkdir(parents=True)
    (tmp_path / "job.conf").write_text("spark.app.name x\n")
    monkeypatch.setenv("SPARK_HOME", str(home.parent))
    monkeypatch.delenv("SPARK_CONF_DIR", raising=False)
    commands = (
        ["resolve", "--dry-run", str(tmp_path / "job.conf")],
        ["validate", "--properties-file", str(tmp_path / "job.conf")],
        ["providers", "test", "x", "--path", "p", "--file", str(tmp_path / "job.conf")],
    )
    for mark, word in ((REQUIRED, REQUIRED), (NAME, "No such file")):
        (home / mark).symlink_to(tmp_path / "nowhere")
        for command in commands:
            assert main(command) == 3, command
            assert word in capsys.readouterr().err, command
