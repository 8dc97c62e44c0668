"""CallPool: order, deadlines, bulkheads, reuse of threads."""

from __future__ import annotations

import threading

from sparkconfig._base.deadline import CallPool
from support.processes import wait_until


def _threads() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.name == "sparkconfig-call"}


def test_outcomes_keep_the_order_of_the_calls() -> None:
    pool = CallPool(width=3)
    outcomes = pool.run([("g", lambda n=n: n * n) for n in range(50)], 5)
    assert [outcome.value for outcome in outcomes] == [n * n for n in range(50)]
    pool.close()


def test_an_error_is_an_outcome_even_system_exit() -> None:
    def leave() -> None:
        raise SystemExit(3)

    pool = CallPool()
    (outcome,) = pool.run([("g", leave)], 5)
    assert isinstance(outcome.error, SystemExit)
    assert not outcome.late
    pool.close()


def test_calls_run_side_by_side() -> None:
    barrier = threading.Barrier(4)
    pool = CallPool(width=4)
    outcomes = pool.run([("g", lambda: barrier.wait(5)) for _ in range(4)], 5)
    assert sorted(outcome.value for outcome in outcomes) == [0, 1, 2, 3]
    pool.close()


def test_a_stuck_group_is_late_at_once_and_others_go_on() -> None:
    release = threading.Event()
    pool = CallPool(width=2)
    outcomes = pool.run([("hung", release.wait)] * 2 + [("good", lambda: "yes")], 0.05)
    assert [outcome.late for outcome in outcomes] == [True, True, False]
    again = pool.run([("hung", release.wait), ("good", lambda: "yes")], 3600)
    assert [(outcome.late, outcome.value) for outcome in again] == [(True, None), (False, "yes")]
    release.set()
    wait_until("its end", lambda: not pool.run([("hung", lambda: 1)], 5)[0].late, timeout=60)
    pool.close()


def test_threads_are_reused_and_end_with_the_pool() -> None:
    others = _threads()
    pool = CallPool(width=4)
    for _ in range(20):
        pool.run([("g", lambda: None)] * 8, 5)
    own = _threads() - others
    assert 0 < len(own) <= 8
    pool.close()
    wait_until("the end of its threads", lambda: not own & _threads(), timeout=60)
