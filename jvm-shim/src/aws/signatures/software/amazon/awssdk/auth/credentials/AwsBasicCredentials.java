package software.amazon.awssdk.auth.credentials;

/** A signature only, for the compiler; the jar has no class of it. The SDK's own stands where this is used. */
public final class AwsBasicCredentials implements AwsCredentials {
    private AwsBasicCredentials() { }

    public static AwsBasicCredentials create(String id, String secret) { return null; }
}
