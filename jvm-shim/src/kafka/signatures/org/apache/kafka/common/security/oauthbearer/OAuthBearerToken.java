package org.apache.kafka.common.security.oauthbearer;

import java.util.Set;

/** As in kafka-clients since 2.0; see ConfigProvider for what these files are. */
public interface OAuthBearerToken {
    String value();

    Set<String> scope();

    long lifetimeMs();

    String principalName();

    Long startTimeMs();
}
