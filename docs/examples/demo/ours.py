"""How the job is submitted with sparkconfig."""

from demo.job import Stage, Submission
from support.processes import HarnessError


def submission(_stage: Stage) -> Submission:
    """Seal the password with the project's own command, and submit with references only."""
    raise HarnessError("not yet")
