package org.apache.iceberg.rest.auth;

import org.apache.iceberg.rest.HTTPRequest;

/** The part of Iceberg that ours is compiled against; scalac makes no classes of it, so that it is in no jar. */
public interface AuthSession extends AutoCloseable {
    HTTPRequest authenticate(HTTPRequest request);

    @Override
    void close();
}
