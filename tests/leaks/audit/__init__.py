"""The leak audit: every kind of job of `leaks.corpus`, every surface, three ways of running Spark.

`run` is the program behind ``make audit``; the tests run a part of the same.
"""
