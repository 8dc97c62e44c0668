package org.apache.kafka.common.security.auth;

import java.util.Map;

/** As in kafka-clients since 2.1; see ConfigProvider for what these files are. */
public class SaslExtensions {
    public SaslExtensions(Map<String, String> extensionsMap) { }
}
