"""JvmRequests: each question gets its own answer, whoever asks first, and nobody waits for ever."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from sparkconfig.agent.jvm_requests import JvmRequests
from sparkconfig.errors import ProviderTimeoutError


def test_each_question_gets_its_own_answer():
    requests = JvmRequests()
    over = threading.Event()

    def driver():
        done = None
        while not over.is_set():
            pending = requests.serve({"wait_ms": 20, "done": done})["jvm_request"]
            answer = {"doubled": pending["request"]["number"] * 2} if pending else None
            done = {"number": pending["number"], "answer": answer} if pending else None

    thread = threading.Thread(target=driver)
    thread.start()
    try:
        with ThreadPoolExecutor(8) as pool:
            asked = list(pool.map(lambda n: requests.ask("double", {"number": n}, 20)["doubled"], range(50)))
    finally:
        over.set()
        thread.join()
    assert asked == [2 * n for n in range(50)]


def test_nobody_waits_for_ever():
    requests = JvmRequests()
    with pytest.raises(ProviderTimeoutError, match="driver's JVM"):
        requests.ask("double", {}, 0.05)
    assert requests.serve({"wait_ms": 0})["jvm_request"] is None, "what nobody waits for is not done"


def test_an_answer_that_comes_too_late_is_dropped():
    requests = JvmRequests()
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(requests.ask, "double", {}, 0.3)
        pending = requests.serve({"wait_ms": 5000})["jvm_request"]
        with pytest.raises(ProviderTimeoutError):
            asked.result()
    assert requests.serve({"wait_ms": 0, "done": {"number": pending["number"], "answer": {}}}) == {
        "jvm_request": None
    }
