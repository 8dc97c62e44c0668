package com.datastax.spark.connector.cql;

import org.apache.spark.SparkConf;

/** The part of the library that ours is compiled against; scalac makes no classes of it, so that it is in no jar. */
public interface AuthConfFactory {
    AuthConf authConf(SparkConf conf);

    default scala.collection.immutable.Set<String> properties() {
        throw new UnsupportedOperationException();
    }
}
