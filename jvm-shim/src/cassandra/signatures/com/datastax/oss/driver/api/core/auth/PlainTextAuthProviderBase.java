package com.datastax.oss.driver.api.core.auth;

import com.datastax.oss.driver.api.core.metadata.EndPoint;

/** The part of the library that ours is compiled against; scalac makes no classes of it, so that it is in no jar. */
public abstract class PlainTextAuthProviderBase implements AuthProvider {
    protected PlainTextAuthProviderBase(String logPrefix) { }

    protected abstract Credentials getCredentials(EndPoint endPoint, String serverAuthenticator);

    public void close() { }

    public static class Credentials {
        public Credentials(char[] username, char[] password) { }
    }
}
