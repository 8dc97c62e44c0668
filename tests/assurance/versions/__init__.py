"""One small application on each Spark, Java and Python that is supported: `make versions-matrix`."""
