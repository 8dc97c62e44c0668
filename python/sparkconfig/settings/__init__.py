"""The ``spark.config.*`` confs, each declared once."""
