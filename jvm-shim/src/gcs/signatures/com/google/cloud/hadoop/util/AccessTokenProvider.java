package com.google.cloud.hadoop.util;

import java.io.IOException;
import java.time.Instant;

import org.apache.hadoop.conf.Configurable;

/**
 * The part of gcs-connector 3 that ours is compiled against; scalac makes no classes of it, so that it is in no jar.
 */
public interface AccessTokenProvider extends Configurable {
    class AccessToken {
        public AccessToken(String token, Instant expirationTime) { }
    }

    AccessToken getAccessToken();

    void refresh() throws IOException;
}
