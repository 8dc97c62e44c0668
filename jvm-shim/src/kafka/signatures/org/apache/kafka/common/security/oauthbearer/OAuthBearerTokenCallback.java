package org.apache.kafka.common.security.oauthbearer;

import javax.security.auth.callback.Callback;

/** As in kafka-clients since 2.0; see ConfigProvider for what these files are. */
public class OAuthBearerTokenCallback implements Callback {
    public void token(OAuthBearerToken token) { }
}
