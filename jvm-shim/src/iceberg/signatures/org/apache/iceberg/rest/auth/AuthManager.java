package org.apache.iceberg.rest.auth;

import java.util.Map;

import org.apache.iceberg.rest.RESTClient;

/** The part of Iceberg that ours is compiled against; scalac makes no classes of it, so that it is in no jar. */
public interface AuthManager extends AutoCloseable {
    default AuthSession initSession(RESTClient client, Map<String, String> properties) {
        throw new UnsupportedOperationException();
    }

    AuthSession catalogSession(RESTClient client, Map<String, String> properties);

    @Override
    void close();
}
