"""The contract suite over envvar, directory, and file in each of its formats."""

import pytest

from sparkconfig.providers.directory import DirectoryConfigProvider
from sparkconfig.providers.envvar import EnvVarConfigProvider
from sparkconfig.providers.file import FileConfigProvider
from sparkconfig.testing import ContractCase, ProviderContract

DATA = {"username": "alice-0001", "password": "s3cret-value-77"}


class TestEnvVar(ProviderContract):
    @pytest.fixture
    def case(self, monkeypatch):
        data = {"SHOP_USER": DATA["username"], "SHOP_PASSWORD": DATA["password"]}
        for name, value in data.items():
            monkeypatch.setenv(name, value)
        params = {"allowlist.pattern": "SHOP_.*"}
        return ContractCase(EnvVarConfigProvider, params, "", data, missing_path=None)


@pytest.mark.parametrize("suffix", ["properties", "json", "yaml"])
class TestFile(ProviderContract):
    @pytest.fixture
    def case(self, tmp_path, suffix):
        lines = {
            "properties": "username=alice-0001\npassword=s3cret-value-77\n",
            "json": '{"username": "alice-0001", "password": "s3cret-value-77"}',
            "yaml": "username: alice-0001\npassword: s3cret-value-77\n",
        }
        path = tmp_path / f"db.{suffix}"
        path.write_text(lines[suffix])

        def change(values):
            text = lines[suffix]
            for key, value in values.items():
                text = text.replace(DATA[key], value)
            partial = path.with_suffix(".new")
            partial.write_text(text)
            partial.replace(path)

        return ContractCase(
            FileConfigProvider,
            {"allowed.paths": str(tmp_path)},
            str(path),
            DATA,
            missing_path=str(tmp_path / "absent.properties"),
            denied_path="/etc/hostname",
            change=change,
        )


class TestDirectory(ProviderContract):
    @pytest.fixture
    def case(self, tmp_path):
        """As Kubernetes mounts a secret: links to ..data, which is one link that is swapped."""
        mount = tmp_path / "mount"
        mount.mkdir()

        def change(values):
            generation = mount / f"..{len(list(mount.iterdir()))}"
            generation.mkdir()
            for key, value in values.items():
                (generation / key).write_text(value)
            (mount / "..new").symlink_to(generation.name)
            (mount / "..new").replace(mount / "..data")

        change(DATA)
        for key in DATA:
            (mount / key).symlink_to(f"..data/{key}")
        return ContractCase(
            DirectoryConfigProvider,
            {"allowed.paths": str(tmp_path)},
            str(mount),
            DATA,
            missing_path=str(tmp_path / "absent"),
            denied_path="/etc",
            change=change,
        )
