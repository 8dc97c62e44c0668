package org.apache.kafka.common;

import java.util.Map;

/** Signatures only, see ConfigProvider. */
public interface Configurable {
    void configure(Map<String, ?> configs);
}
