"""A short real history of the side process, and what the model says of it.

The side process's code runs here with two stores that change, refuse, fail and are killed at random moments; a driver
takes its news by the rules of ``driver/DriverValues.scala``. What they show is noted in order. ``claim`` makes a never
claim of it, beside which spin looks for a run of the model that shows the same.
"""

from __future__ import annotations

import itertools
import json
import random
import threading
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any

from sparkconfig import ConfigData, ConfigProvider
from sparkconfig.agent.service import AgentService
from sparkconfig.errors import AccessDeniedError, ProviderUnavailableError

_CONFS = {
    "spark.config.providers": "a,b",
    "spark.config.providers.a.class": "history.StoreA",
    "spark.config.providers.b.class": "history.StoreB",
    "spark.config.poll.interval": "100ms",
    "spark.app.user": "${a:path:user}",
    "spark.app.password": "${a:path:password}",
    "spark.app.other": "${b:path:value}",
}
_GONE = 16


@dataclass(frozen=True)
class Moment:
    """What can be seen: the stores, whether the side process lives, and what the driver holds; 0: no value."""

    a: int = 1
    b: int = 1
    refused: bool = False
    down: bool = False
    up: bool = True
    starting: bool = False
    held: int = 1
    user: int = 1
    password: int = 1
    other: int = 1

    def __str__(self) -> str:
        return ", ".join(f"{name} {value}" for name, value in vars(self).items())


class Recorder:
    """The moments so far. Whatever changes one holds the lock meanwhile."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.moments = [Moment()]

    @property
    def now(self) -> Moment:
        """The last moment."""
        return self.moments[-1]

    def note(self, **changes: object) -> None:
        """Add a moment, which differs from the last one in this."""
        with self.changed:
            self.moments.append(replace(self.now, **changes))  # type: ignore[arg-type]
            self.changed.notify_all()

    def wait(self, condition: Callable[[Moment], bool], seconds: float) -> bool:
        """Wait for a moment like that."""
        with self.changed:
            return self.changed.wait_for(lambda: condition(self.now), seconds)


_recorder = Recorder()


class StoreA(ConfigProvider):
    """Answers with the number of its last change in both keys."""

    def configure(self, params: Mapping[str, str]) -> None:
        """It needs none."""

    def get(self, path: str, keys: Set[str] | None = None) -> ConfigData:
        """Answer, refuse or fail, as the store is now."""
        with _recorder.changed:
            now = _recorder.now
        if now.down:
            raise ProviderUnavailableError("store A is down")
        if now.refused:
            raise AccessDeniedError("store A does not allow it")
        return ConfigData({"user": f"user-of-{now.a}", "password": f"password-of-{now.a}"})


class StoreB(StoreA):
    """As A, with one key."""

    def get(self, path: str, keys: Set[str] | None = None) -> ConfigData:
        """Answer as the store is now."""
        with _recorder.changed:
            return ConfigData({"value": f"value-of-{_recorder.now.b}"})


class Driver:
    """What `DriverValues`, `AgentClient` and `Supervisor` do, without a JVM."""

    def __init__(self) -> None:
        self.snapshot: dict[str, Any] | None = None
        self.ids: dict[str, str] = {}
        self.told: AgentService | None = None
        self.ended = False
        self.start()

    def start(self) -> None:
        """Start a side process, and tell it what is held."""
        service = AgentService()
        with _recorder.changed:
            self.told = service
            if self.snapshot is not None:
                _recorder.note(starting=True)
            held = self.snapshot
        request: dict[str, Any] = {"confs": _CONFS}
        if held is not None:
            request["held"] = held
            request["known"] = [self._expression(key) for key in self.ids]
        answer = json.loads(service.call("start", json.dumps(request)))
        if not answer["ok"] or (held is None and answer["problems"]):
            raise RuntimeError(f"the side process does not start: {answer}")
        if held is None:
            self.snapshot = answer["snapshot"]
            self.ids = {key: found["id"] for key, found in answer["confs"].items()}
        else:
            _recorder.note(starting=False, up=True)
        threading.Thread(target=self._watch, args=(service,), daemon=True).start()

    def kill(self) -> None:
        """End the side process; what it has answered may still come."""
        with _recorder.changed:
            service = self.told
            _recorder.note(up=False)
        assert service is not None
        service.close()

    def close(self) -> None:
        """End it all."""
        self.ended = True
        if self.told is not None:
            self.told.close()

    def _watch(self, service: AgentService) -> None:
        while self.told is service and not self.ended:
            assert self.snapshot is not None
            request: dict[str, Any] = {"generation": self.snapshot["generation"], "wait_ms": 200}
            answer = json.loads(service.call("await_change", json.dumps(request)))
            if not answer["ok"]:
                return
            if answer["snapshot"]:
                self._accept(answer["snapshot"], service)
            # The application uses everything all the time: what has no value is asked for.
            missing = [key for key, id_ in self.ids.items() if id_ not in self.snapshot["values"]]
            if missing:
                request = {"expressions": [self._expression(key) for key in missing]}
                answer = json.loads(service.call("resolve", json.dumps(request)))
                if answer["ok"]:
                    self._accept(answer["snapshot"], service)

    def _expression(self, key: str) -> dict[str, str]:
        return {"id": self.ids[key], "text": _CONFS[key], "key": key}

    def _accept(self, news: dict[str, Any], service: AgentService) -> None:
        with _recorder.changed:
            assert self.snapshot is not None
            if self.told is service and news["generation"] > self.snapshot["generation"]:
                self.snapshot = news
                user, password, other = (
                    int(found["value"].rsplit("-", 1)[1]) if found else 0
                    for found in map(news["values"].get, self.ids.values())
                )
                _recorder.note(held=news["generation"], user=user, password=password, other=other)


def record(seed: int) -> list[Moment]:
    """Run for a few seconds, and return what was seen once the driver has the last values.

    Raises:
        TimeoutError: it does not get them.
    """
    global _recorder  # noqa: PLW0603 - the stores are made by their class names
    _recorder = Recorder()
    chance = random.Random(seed)
    driver = Driver()
    steps = ["value"] * 8 + ["refusal"] * 2 + ["other"] * 2 + ["down"] + ["kill"] * 2
    chance.shuffle(steps)
    try:
        for step in steps:
            now = _recorder.now
            if step == "value":
                _recorder.note(a=now.a + 1, refused=False)
            elif step == "refusal":
                _recorder.note(a=now.a + 1, refused=True)
            elif step == "other":
                _recorder.note(b=now.b + 1)
            elif step == "down":
                _recorder.note(down=True)
                _recorder.wait(lambda _: False, 0.3)
                _recorder.note(down=False)
            else:
                driver.kill()
                driver.start()
            if chance.random() < 0.6:
                _recorder.wait(_has_the_newest, 5)
            else:
                _recorder.wait(lambda _: False, chance.random() / 10)
        if not _recorder.wait(_has_the_newest, 60):
            raise TimeoutError(f"the driver has not got the last values: {_recorder.now}")
    finally:
        driver.close()
    return _recorder.moments


def _has_the_newest(now: Moment) -> bool:
    return now.other == now.b and now.user == (0 if now.refused else now.a)


def broken(moments: Sequence[Moment]) -> dict[str, list[Moment]]:
    """The same history with errors, none of which the model can show."""
    taken = [i for i in range(1, len(moments)) if moments[i].held != moments[i - 1].held]
    last = taken[-1]
    whole = next(i for i in reversed(taken) if moments[i].user > 1)
    refused = next(i for i in taken if not moments[i].user)
    return {
        "an older generation again": [*moments, replace(moments[-1], **_values(moments[taken[0] - 1]))],
        "keys of two reads": [*moments[:whole], replace(moments[whole], password=moments[whole].user - 1)],
        "a value before the store has it": [
            *moments[:last],
            replace(moments[last], user=moments[last].a + 1, password=moments[last].a + 1),
        ],
        "a revoked value that comes back": [
            *moments[: refused + 1],
            replace(
                moments[refused], **{**_values(moments[taken[0] - 1]), "held": moments[refused].held + 1}
            ),
        ],
        "a generation left out": [*moments[:last], replace(moments[last], held=moments[last].held + 9)],
    }


def _values(moment: Moment) -> dict[str, Any]:
    return {name: getattr(moment, name) for name in ("held", "user", "password", "other")}


def claim(moments: Sequence[Moment]) -> str:
    """A never claim that ends when a run of the model has shown all of these, in their order, and nothing else."""
    lines = []
    for i, here in enumerate(moments[:-1]):
        lines.append(
            f"N{i}: if :: {_seen(here)} -> goto N{i} :: {_seen(moments[i + 1])} -> goto N{i + 1} fi;"
        )
    return "never {\n" + "\n".join(lines) + f"\nN{len(moments) - 1}: skip\n}}\n"


def _seen(moment: Moment) -> str:
    a = moment.a + (_GONE if moment.refused else 0)
    user, password, other = (
        f"hist_{name}[held] == {value}" if value else f"hist_{name}[held] >= {_GONE}"
        for name, value in (("user", moment.user), ("pass", moment.password), ("other", moment.other))
    )
    return (
        f"(store[0] == {a} && store[1] == {moment.b} && down[0] == {moment.down:d} && up == {moment.up:d}"
        f" && starting == {moment.starting:d} && held == {moment.held} && {user} && {password} && {other})"
    )


def sizes(moments: Sequence[Moment]) -> dict[str, int]:
    """What the model needs to show this history."""
    steps = list(itertools.pairwise(moments))
    return {
        "A_CHANGES": moments[-1].a - 1,
        "B_CHANGES": moments[-1].b - 1,
        "OUTAGES": sum(after.down and not before.down for before, after in steps),
        "CRASHES": sum(before.up and not after.up for before, after in steps),
    }
