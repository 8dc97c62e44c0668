package com.datastax.oss.driver.api.core.auth;

/** The part of the library that ours is compiled against; scalac makes no classes of it, so that it is in no jar. */
public interface AuthProvider extends AutoCloseable { }
