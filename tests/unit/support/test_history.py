"""The checker of histories against a slow one on small random ones, and on errors that were put into right ones."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from history.broken import BREAKS
from history.brute import is_possible, operations
from history.check import KINDS, Seen, check, converged
from history.journal import FAILED, NO_VALUE, Journal, Read, Reader, fingerprint, load, number_in, value
from history.planted import planted
from history.small import random_history
from history.timeline import Bound, Rotations, Version, Window, merged, rotations


@pytest.mark.parametrize("wildness", [0, 0.1, 0.5])
def test_the_checker_says_of_small_histories_what_a_search_of_all_orders_says(wildness: float) -> None:
    chance = random.Random(f"history {wildness}")
    said: Counter[bool] = Counter()
    for _ in range(700):
        versions, seen = random_history(chance, wildness=wildness)
        holds = check(versions, seen).holds
        assert holds == is_possible(operations(versions, seen)), (versions, seen)
        said[holds] += 1
    assert said[True] > 100
    assert said[False] > 100 or not wildness


def _long(chance: random.Random) -> tuple[list[Version], list[Seen]]:
    """A history of 60 rotations, one of which takes the value away, read by a driver and three workers."""
    versions = [Version(0, 0, 1)]
    for number in range(1, 61):
        begin = number * 1000
        versions.append(Version(number, begin, begin + 100, gone=number == 30))
    driver = Seen("driver", Bound(150), [_right(versions, now, 150) for now in range(500, 61_900, 130)])
    seen = [driver]
    for process in range(3):
        reads: list[Read] = []
        known = [each for each in driver.reads if each.user >= 0]
        for now in range(700 + process, 61_900, 70):
            read, before = _right(versions, now, 400), [each for each in known if each.end < now]
            floor = before[-1].user if before and chance.random() < 0.5 else -1
            newest = max([read.user, floor, *(each.user for each in reads[-1:])])
            reads.append(
                read if read.user == NO_VALUE else Read(now, now + 9, 0, newest, newest, floor, task=1)
            )
        seen.append(Seen(f"worker {process}", Bound(400), reads))
    return versions, seen


def _right(versions: list[Version], now: int, late: int) -> Read:
    found = [each for each in versions if each.end <= now - late // 2][-1]
    number = NO_VALUE if found.gone else found.number
    return Read(now, now + 9, 0, number, number)


def test_each_kind_of_error_in_a_long_history_is_found() -> None:
    versions, seen = _long(random.Random(7))
    right = check(versions, seen)
    assert (right.holds, right.reads, right.examples) == (True, sum(len(each.reads) for each in seen), [])
    wrong = planted(versions, seen)
    assert wrong.keys() == {*KINDS} - {"lost"}
    for kind, history in wrong.items():
        assert check(versions, history).errors[kind] == 1, kind
    no_value = Read(5_500, 5_510, 0, NO_VALUE, NO_VALUE)
    assert check(versions, [*seen, Seen("another", Bound(400), [no_value])]).errors["lost"] == 1


def test_the_slow_search_finds_the_same_errors_where_the_history_is_short() -> None:
    # The value goes at 5 and is back at 6; a driver and a worker, whose tasks carry what the driver had.
    versions = [Version(n, n * 10 + 1, n * 10 + 2, gone=n == 5) for n in range(9)]
    driver = [_right(versions, now, 2) for now in range(5, 88, 3)]
    driver = [each._replace(end=each.begin + 1) for each in driver]
    found = [(now, [each for each in driver if each.end < now][-1]) for now in range(9, 88, 5)]
    worker = [
        Read(now, now + 1, 0, before.user, before.user, before.user)
        for now, before in found
        if before.user >= 0 and now - before.end < 8
    ]
    seen = [Seen("driver", Bound(9), driver), Seen("worker", Bound(12), worker)]
    assert is_possible(operations(versions, seen))
    wrong = planted(versions, seen)
    assert wrong.keys() == {*KINDS} - {"lost"}
    for kind, history in wrong.items():
        assert not is_possible(operations(versions, history)), kind
        assert not check(versions, history).holds, kind


def test_a_read_that_failed_says_nothing_of_the_value() -> None:
    verdict = check([Version(0, 0, 1)], [Seen("one", Bound(5), [Read(9, 10, 0, FAILED, FAILED)])])
    assert (verdict.holds, verdict.reads, verdict.failed) == (True, 1, 1)


def test_how_long_each_process_takes_to_converge() -> None:
    versions = [Version(0, 0, 1), Version(1, 90, 100)]
    reads = {
        "soon": [Read(95, 96, 0, 0, 0), Read(110, 111, 0, 0, 0), Read(120, 130, 0, 1, 1), Read(140, 141, 0, 1, 1)],
        "back": [Read(120, 130, 0, 1, 1), Read(140, 141, 0, 0, 0)],
        "silent": [Read(50, 60, 0, 0, 0)],
    }  # fmt: skip
    seen = [Seen(process, Bound(5), found) for process, found in reads.items()]
    assert converged(versions, seen) == {"soon": 10, "back": None}


def test_a_fault_holds_up_what_was_written_shortly_before_it_until_its_end() -> None:
    bound = Bound(10, merged([Window(150, 160), Window(100, 120), Window(110, 140)]))
    assert bound.windows == [Window(100, 140), Window(150, 160)]
    moments = {50: 40, 99: 89, 100: 90, 149: 90, 150: 140, 169: 140, 170: 160, 175: 165}
    assert {now: bound.earliest(now) for now in moments} == moments
    # The second window begins before what the first one held up is due.
    assert Bound(10, [Window(100, 140), Window(145, 160)]).earliest(165) == 90


def test_journals_of_several_processes_are_read_again(tmp_path) -> None:
    journal = Journal(tmp_path, Reader("one", "python worker", "10.0.0.2"))
    numbers = [number_in(value("user", 7)), number_in(value("password", 8)), number_in("v-token-stream-X")]
    for number in numbers:
        journal.read(5, 3, number, numbers[0], floor=2, task=9)
    journal.flush()
    journal.read(6, 3, NO_VALUE, FAILED)
    journal.flush()
    (file,) = tmp_path.iterdir()
    with file.open("ab") as half:
        half.write(b"half a record")
    reader, reads = load(file, {fingerprint("v-token-stream-X"): 4})
    assert reader == journal.reader
    found = [(read.path, read.user, read.password, read.floor, read.task) for read in reads]
    assert found == [(3, 7, 7, 2, 9), (3, 8, 7, 2, 9), (3, 4, 7, 2, 9), (3, NO_VALUE, FAILED, -1, 0)]


def test_rotations_are_read_again_in_their_order(tmp_path) -> None:
    noted = Rotations(tmp_path / "rotations")
    with noted.rotation(1, 0):
        pass
    noted.note(2, Version(5, 1, 2, gone=True))
    with pytest.raises(OSError, match="full"), noted.rotation(1, 1):
        raise OSError("the disk is full")
    with noted.rotation(1, 2):
        pass
    noted.close()
    found = rotations(tmp_path / "rotations")
    assert [version.number for version in found[1]] == [0, 2]
    assert found[2] == [Version(5, 1, 2, gone=True)]


@pytest.mark.parametrize("name", BREAKS)
def test_what_is_broken_on_purpose_fits_the_product_of_today(name: str) -> None:
    assert BREAKS[name].text()
