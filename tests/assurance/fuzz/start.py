"""The beginning of a fuzzer's process."""

import sys

import atheris


def fuzz(check) -> None:
    """Run ``check`` on bytes until libFuzzer's options end it."""
    atheris.Setup(sys.argv, check)
    atheris.Fuzz()
