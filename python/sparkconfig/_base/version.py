"""The one place that states the version; the wheel, the jars and the handshake read it."""

__version__ = "0.1.0"
