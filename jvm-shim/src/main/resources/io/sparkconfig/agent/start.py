"""Start of the side process without an operator's file: from the installed package, or from a copy in the jar.

The driver's JVM runs this text with ``python -c TEXT``, and if no interpreter has the package, once more with
arguments: the jar, whose copy of the package then serves, and the zip with py4j that belongs to Spark.
"""

import sys

sys.path[:] = [each for each in sys.path if each]  # not the folder in which it happens to start
if sys.version_info < (3, 10):  # noqa: UP036 - any Python may be found
    sys.exit("sparkconfig needs Python 3.10 or newer, and this is " + sys.version.split()[0])
if len(sys.argv) > 1:
    sys.path += sys.argv[1:]  # at the end: an installed py4j wins
try:
    from sparkconfig.agent.main import main
except ModuleNotFoundError as error:
    sys.exit("the Python package " + str(error.name) + " is not installed here")
main()
