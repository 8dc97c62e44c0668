package com.datastax.spark.connector.cql;

import java.io.Serializable;

import com.datastax.oss.driver.api.core.auth.AuthProvider;

/** The part of the library that ours is compiled against; scalac makes no classes of it, so that it is in no jar. */
public interface AuthConf extends Serializable {
    scala.Option<AuthProvider> authProvider();
}
