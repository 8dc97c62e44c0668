"""What a job's own code logs and prints on the driver."""

from leaks.corpus.shop import Shop


def run(shop: Shop) -> None:
    jvm = shop.spark.sparkContext._jvm
    slf4j = jvm.org.slf4j.LoggerFactory.getLogger("shop")
    for text in shop.values.values():
        slf4j.warn(f"logged {text}")
        error = jvm.java.lang.RuntimeException(
            f"error {text}", jvm.java.lang.IllegalArgumentException(f"cause {text}")
        )
        error.addSuppressed(jvm.java.lang.IllegalStateException(f"suppressed {text}"))
        slf4j.error("thrown", error)
        jvm.org.slf4j.MDC.put("shop", text)
        slf4j.warn("with context")
        jvm.org.slf4j.MDC.remove("shop")
        jvm.java.lang.System.out.println(f"printed {text}")
        jvm.java.lang.System.err.println(f"printed {text}")
        print(f"printed by Python {text}")
