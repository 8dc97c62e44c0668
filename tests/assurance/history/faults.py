"""The faults of a run: for how long each lasts, and how much longer it may hold up news."""

from __future__ import annotations

from dataclasses import dataclass

from history import faults_of_machine as machine
from history import faults_of_processes as processes
from history import faults_of_stores as stores
from history.scope import Act
from support.fakes.http_server import Fault as Trouble

REPLACED = 10.0
"""Seconds that a side process which is dead, stopped or being replaced adds to each bound, as docs/rotation.md says;
and those after which a generation is sent again to an executor that has not reported it."""


@dataclass(frozen=True)
class Kind:
    """A kind of fault.

    Attributes:
        seconds: how long it lasts.
        late: how many seconds after its end news may still be held up; None: it holds up nothing.
        since: as `late`, counted from its begin, in its place.
    """

    name: str
    act: Act
    seconds: float = 4.0
    late: float | None = None
    since: float | None = None


OUTAGE = 5.0
"""Seconds: the longest pause between two tries is eight poll intervals."""
KINDS = (
    Kind("side process killed", processes.side_process_killed, 2, REPLACED),
    Kind("side process stopped", processes.side_process_stopped, 7, REPLACED),
    Kind("side process paused", processes.side_process_paused, 3, REPLACED),
    Kind("side process out of memory", processes.side_process_without_memory, 4, REPLACED),
    Kind("side process out of descriptors", processes.side_process_without_descriptors, 4, REPLACED),
    Kind("side process's clock a day ahead", processes.clock_jumps(86_400), 4),
    Kind("side process's clock a day behind", processes.clock_jumps(-86_400), 4),
    Kind("driver stopped", processes.driver_stopped, 4, REPLACED),
    Kind("driver stutters", processes.driver_stutters, 4, REPLACED),
    Kind("driver killed", processes.restarted(processes.kill_jvm), 1, REPLACED),
    Kind("driver's Python killed", processes.restarted(processes.kill_python), 1, REPLACED),
    Kind("executor stopped", processes.executor_stopped, 4, REPLACED),
    Kind("executor killed", processes.executor_killed, 4),
    Kind("Python workers killed", processes.python_workers_killed, 2),
    Kind("host cut off", processes.host_cut_off, 4, REPLACED),
    Kind("network slow and losing", processes.network_slow, 4, REPLACED),
    Kind("store down", stores.store_down, 4, OUTAGE),
    Kind("store slow", stores.trouble(lambda number: Trouble(slow=True)), 4, OUTAGE),
    Kind("store hangs", stores.trouble(lambda number: Trouble(silent=True)), 4, OUTAGE + 5),
    Kind("store answers garbage", stores.trouble(lambda number: Trouble(garbage=True)), 4, OUTAGE),
    Kind("store answers half", stores.trouble(lambda number: Trouble(truncated=True)), 4, OUTAGE),
    Kind("store flaps", stores.trouble(lambda number: Trouble(503) if number % 3 else None), 4, OUTAGE),
    Kind("store deletes", stores.store_revokes, 3),
    Kind("file deleted", stores.file_gone("renamed"), 3, since=0.5),
    Kind("link deleted", stores.file_gone("link"), 3, since=0.5),
    Kind("entries removed from a sealed file", stores.file_gone("sealed"), 3, since=0.5),
    Kind("sealed file cut in half", stores.file_of_garbage, 3, 0.5),
    Kind("permissions taken", stores.permissions_taken, 3, since=0.5),
    Kind("database restarted", stores.database_restarted, 2, OUTAGE),
    Kind("disk full", machine.disk_full, 4),
    Kind("temporary files wiped", machine.temporary_wiped, 3, REPLACED),
    Kind("machine busy", machine.machine_busy, 4, 1),
    Kind("a change every 50 ms", machine.storm, 3),
    Kind("large values", machine.large_values, 4),
)
