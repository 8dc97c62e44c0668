package org.apache.kafka.common.security.auth;

import javax.security.auth.callback.Callback;

/** As in kafka-clients since 2.1; see ConfigProvider for what these files are. */
public class SaslExtensionsCallback implements Callback {
    public void extensions(SaslExtensions extensions) { }
}
