package org.apache.hadoop.fs.azurebfs.extensions;

import java.io.IOException;

import org.apache.hadoop.conf.Configuration;

/** The part of hadoop-azure that ours is compiled against; scalac makes no classes of it, so that it is in no jar. */
public interface SASTokenProvider {
    void initialize(Configuration configuration, String accountName) throws IOException;

    String getSASToken(String account, String fileSystem, String path, String operation) throws IOException;
}
