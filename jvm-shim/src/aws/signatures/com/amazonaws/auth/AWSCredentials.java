package com.amazonaws.auth;

/** A signature only, for the compiler; the jar has no class of it. The SDK's own stands where this is used. */
public interface AWSCredentials {
}
