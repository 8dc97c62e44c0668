"""RecordingProvider: records, scripts, pushes."""

import pytest

from sparkconfig.errors import ConfigurationError, ProviderUnavailableError, SecretNotFoundError
from sparkconfig.providers.base import ConfigData
from sparkconfig.testing import ProviderCall, RecordingProvider


def test_records_every_call():
    provider = RecordingProvider({"p": {"a": "1", "b": "2"}})
    provider.get("p", {"a"})
    provider.get("p")
    assert provider.calls == [ProviderCall("p", frozenset({"a"})), ProviderCall("p", None)]


def test_takes_its_data_and_ttl_from_params():
    provider = RecordingProvider()
    provider.configure({"data": '{"p": {"a": "1"}}', "ttl": "1500", "other": "seen"})
    assert provider.get("p") == ConfigData({"a": "1"}, ttl=1500)
    assert provider.params["other"] == "seen"
    assert provider.configured == 1


@pytest.mark.parametrize("params", [{"data": "["}, {"data": "[1]"}, {"data": '{"p": 1}'}, {"ttl": "soon"}])
def test_malformed_params_are_refused(params):
    with pytest.raises(ConfigurationError):
        RecordingProvider().configure(params)


def test_scripted_errors_come_once_each():
    provider = RecordingProvider({"p": {"a": "1"}})
    provider.fail("p", ProviderUnavailableError("down"), ProviderUnavailableError("still down"))
    for _ in range(2):
        with pytest.raises(ProviderUnavailableError):
            provider.get("p")
    assert provider.get("p").data == {"a": "1"}
    assert len(provider.calls) == 3


def test_an_action_runs_before_the_answer():
    provider = RecordingProvider({"p": {"a": "1"}})
    provider.before_answer("p", lambda: provider.set("p", {"a": "2"}))
    assert provider.get("p").data == {"a": "2"}


def test_pushes_only_what_changed_and_only_to_subscribers():
    provider = RecordingProvider({"p": {"a": "1", "b": "2"}})
    news = []
    provider.subscribe("p", {"a"}, lambda path, data: news.append((path, dict(data.data))))
    provider.set("p", {"a": "1", "b": "3"})
    assert news == []
    provider.set("p", {"a": "9", "b": "3"})
    assert news == [("p", {"a": "9"})]


def test_unsubscribe_ends_pushing():
    provider = RecordingProvider({"p": {"a": "1"}})
    news = []

    def changed(path, data):
        news.append(path)

    provider.subscribe("p", {"a"}, changed)
    provider.unsubscribe("p", {"a"}, changed)
    provider.set("p", {"a": "2"})
    provider.subscribe("p", {"a"}, changed)
    provider.unsubscribe_all()
    provider.set("p", {"a": "3"})
    assert news == []


def test_can_be_one_that_does_not_push():
    provider = RecordingProvider(pushes=False)
    with pytest.raises(NotImplementedError):
        provider.subscribe("p", {"a"}, lambda path, data: None)
    with pytest.raises(NotImplementedError):
        provider.unsubscribe("p", {"a"}, lambda path, data: None)
    with pytest.raises(NotImplementedError):
        provider.unsubscribe_all()


def test_a_removed_path_is_not_there():
    provider = RecordingProvider({"p": {"a": "1"}})
    provider.remove("p")
    with pytest.raises(SecretNotFoundError, match="'p'"):
        provider.get("p")


def test_counts_closing():
    with RecordingProvider() as provider:
        pass
    assert provider.closed == 1
