package org.apache.hadoop.fs.azurebfs.extensions;

import java.io.IOException;
import java.util.Date;

import org.apache.hadoop.conf.Configuration;

/** The part of hadoop-azure that ours is compiled against; scalac makes no classes of it, so that it is in no jar. */
public interface CustomTokenProviderAdaptee {
    void initialize(Configuration configuration, String accountName) throws IOException;

    String getAccessToken() throws IOException;

    Date getExpiryTime();
}
