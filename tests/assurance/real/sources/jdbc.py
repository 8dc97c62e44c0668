"""What all databases behind JDBC share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from typing import Any

from real.sources.base import Source


class JdbcSource(Source):
    """A table ``numbers``, written and read with the same options."""

    @abstractmethod
    def options(self) -> dict[str, str]:
        """The options of Spark's data source, with a reference as the password."""

    def write(self, spark: Any, numbers: Iterable[int]) -> None:
        frame = spark.createDataFrame([(number,) for number in numbers], "id long")
        frame.write.format("jdbc").options(**self.options()).mode("append").save()

    def frame(self, spark: Any) -> Any:
        return spark.read.format("jdbc").options(**self.options()).load()
