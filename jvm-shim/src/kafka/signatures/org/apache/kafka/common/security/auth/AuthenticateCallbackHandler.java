package org.apache.kafka.common.security.auth;

import java.util.List;
import java.util.Map;

import javax.security.auth.callback.CallbackHandler;
import javax.security.auth.login.AppConfigurationEntry;

/** As in kafka-clients since 2.0; see ConfigProvider for what these files are. */
public interface AuthenticateCallbackHandler extends CallbackHandler {
    void configure(Map<String, ?> configs, String saslMechanism, List<AppConfigurationEntry> jaasConfigEntries);

    void close();
}
