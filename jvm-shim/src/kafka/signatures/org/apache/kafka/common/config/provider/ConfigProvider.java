package org.apache.kafka.common.config.provider;

import java.io.Closeable;
import java.util.Set;

import org.apache.kafka.common.Configurable;
import org.apache.kafka.common.config.ConfigData;

/**
 * The part of kafka-clients that our provider is compiled against, unchanged since 2.0 (KIP-297).
 *
 * scalac reads Java sources for their signatures and makes no classes of them, so that none of this is in a jar: at
 * run time there is kafka-clients itself. The other methods of the interface have defaults there.
 */
public interface ConfigProvider extends Configurable, Closeable {
    ConfigData get(String path);

    ConfigData get(String path, Set<String> keys);
}
