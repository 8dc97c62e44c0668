package org.apache.iceberg.rest;

/** The part of Iceberg that ours is compiled against; scalac makes no classes of it, so that it is in no jar. */
public interface HTTPHeaders {
    interface HTTPHeader {
        static HTTPHeader of(String name, String value) {
            throw new UnsupportedOperationException();
        }
    }

    static HTTPHeaders of(HTTPHeader... headers) {
        throw new UnsupportedOperationException();
    }
}
