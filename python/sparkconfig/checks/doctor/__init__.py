"""What could keep an application from starting safely here, and what to do about it: ``sparkconfig doctor``."""

from sparkconfig.checks.doctor.diagnosis import Diagnosis, diagnose
from sparkconfig.checks.doctor.finding import Finding, Level

__all__ = ["Diagnosis", "Finding", "Level", "diagnose"]
