package org.apache.iceberg.rest.auth;

import org.apache.iceberg.rest.HTTPHeaders;

/** The part of Iceberg that ours is compiled against; scalac makes no classes of it, so that it is in no jar. */
public interface DefaultAuthSession extends AuthSession {
    static DefaultAuthSession of(HTTPHeaders headers) {
        throw new UnsupportedOperationException();
    }
}
