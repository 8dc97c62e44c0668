"""JvmRequests: each question gets its own answer, whoever asks first, and nobody waits for ever."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from sparkconfig.agent.jvm_requests import JvmRequests
from sparkconfig.errors import ProviderTimeoutError


def test_each_question_gets_its_own_answer():
    errands = JvmRequests()
    over = threading.Event()

    def driver():
        done = None
        while not over.is_set():
            errand = errands.serve({"wait_ms": 20, "done": done})["errand"]
            answer = {"doubled": errand["request"]["number"] * 2} if errand else None
            done = {"number": errand["number"], "answer": answer} if errand else None

    thread = threading.Thread(target=driver)
    thread.start()
    try:
        with ThreadPoolExecutor(8) as pool:
            asked = list(pool.map(lambda n: errands.ask("double", {"number": n}, 20)["doubled"], range(50)))
    finally:
        over.set()
        thread.join()
    assert asked == [2 * n for n in range(50)]


def test_nobody_waits_for_ever():
    errands = JvmRequests()
    with pytest.raises(ProviderTimeoutError, match="driver's JVM"):
        errands.ask("double", {}, 0.05)
    assert errands.serve({"wait_ms": 0})["errand"] is None, "what nobody waits for is not done"


def test_an_answer_that_comes_too_late_is_dropped():
    errands = JvmRequests()
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(errands.ask, "double", {}, 0.3)
        errand = errands.serve({"wait_ms": 5000})["errand"]
        with pytest.raises(ProviderTimeoutError):
            asked.result()
    assert errands.serve({"wait_ms": 0, "done": {"number": errand["number"], "answer": {}}}) == {
        "errand": None
    }
