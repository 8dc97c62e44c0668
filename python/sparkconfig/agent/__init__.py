"""The side process of a Spark driver: ``python -m sparkconfig.agent``.

It holds the providers, so that PySpark, Scala, SQL, Thrift and Connect drivers are served alike. The driver's JVM
talks to it over Py4J on loopback, with a token that it gave on standard input; JSON text goes both ways. It ends
when its standard input ends.
"""
