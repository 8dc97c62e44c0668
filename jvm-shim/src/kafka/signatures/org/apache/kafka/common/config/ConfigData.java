package org.apache.kafka.common.config;

import java.util.Map;

/** Signatures only, see ConfigProvider. */
public class ConfigData {
    public ConfigData(Map<String, String> data) { }
}
