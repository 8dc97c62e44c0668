"""How long Hypothesis' state machines run: a moment in `make unit`, as long as one likes in `make machines`."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

EXAMPLES = int(os.environ.get("SPARKCONFIG_MACHINE_EXAMPLES", "10"))


def limits(steps: int = 1, least: int = 10) -> settings:
    """The settings of a machine that takes so many steps in each example, or of a test of ``least`` examples."""
    return settings(
        max_examples=max(EXAMPLES, least),
        # A change of something else must not fail by a new example; who asks for more wants new ones.
        derandomize=EXAMPLES <= 10,
        stateful_step_count=steps,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
