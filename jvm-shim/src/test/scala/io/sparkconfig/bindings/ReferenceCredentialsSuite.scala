package io.sparkconfig.bindings

import io.sparkconfig.Asked
import io.sparkconfig.core.{SparkConfigException, Values}
import munit.FunSuite
import org.apache.hadoop.conf.Configuration

class ReferenceCredentialsSuite extends FunSuite {
  private val reference = "${vault:aws/shop:key}"

  private def conf(more: (String, String)*): Configuration = {
    val made = new Configuration()
    // Hadoop's own factories want a class loader with their dependencies; ours is enough.
    (("fs.defaultFS" -> "file:///") +: more).foreach { case (key, text) => made.set(key, text) }
    made
  }

  /** What the policies were asked when a file system wanted this credential. */
  private def asked(name: String, more: (String, String)*): (Seq[String], Map[String, String]) = {
    val source = new Asked()
    Values.install(source)
    try {
      val made = conf(more :+ (s"sparkconfig.credential.$name" -> reference): _*)
      val entry = new ReferenceCredentials(made).getCredentialEntry(name)
      assertEquals(new String(entry.getCredential), s"[$reference]")
    } finally Values.uninstall(source)
    assertEquals(source.connections.size, 1)
    val (formats, options) = source.connections.head
    assertEquals(options.get(name), Some(reference))
    (formats, options - name)
  }

  private def places(name: String, more: (String, String)*)(format: String, options: (String, String)*): Unit =
    assertEquals(asked(name, more: _*), Seq(format) -> options.toMap)

  test("a bucket's credentials say their bucket") {
    places("fs.s3a.bucket.my.lake.secret.key")("s3a", "uri" -> "s3a://my.lake")
    places("fs.s3a.bucket.lake.access.key", "fs.s3a.endpoint" -> "s3.amazonaws.com")("s3a", "uri" -> "s3a://lake")
  }

  test("an endpoint is named as it was set: for all buckets, or for one") {
    val own = "fs.s3a.bucket.lake.endpoint"
    places("fs.s3a.bucket.lake.secret.key", "fs.s3a.endpoint" -> "http://a")(
      "s3a",
      "uri" -> "s3a://lake",
      "fs.s3a.endpoint" -> "http://a")
    places("fs.s3a.bucket.lake.secret.key", own -> "http://a", "fs.s3a.endpoint" -> "http://a")(
      "s3a",
      "uri" -> "s3a://lake",
      own -> "http://a")
    // What is used is the other one.
    places("fs.s3a.bucket.lake.secret.key", own -> "http://a", "fs.s3a.endpoint" -> "http://evil")(
      "s3a",
      "uri" -> "s3a://lake",
      "fs.s3a.endpoint" -> "http://evil")
  }

  test("without a bucket nobody knows") {
    places("fs.s3a.secret.key", "fs.s3a.proxy.host" -> "p")("s3a", "fs.s3a.proxy.host" -> "p")
    places("ssl.server.keystore.password")("hadoop")
  }

  test("accounts, tokens and metastores") {
    places("fs.azure.account.key.shop.dfs.core.windows.net")("abfs", "uri" -> "abfss://shop.dfs.core.windows.net")
    val endpoint = "fs.azure.account.oauth2.client.endpoint"
    places("fs.azure.account.oauth2.client.secret", endpoint -> "https://evil")("abfs", endpoint -> "https://evil")
    places("fs.gs.auth.client.secret")("gcs", "uri" -> "https://storage.googleapis.com")
    val url = "javax.jdo.option.ConnectionURL"
    places("javax.jdo.option.ConnectionPassword", url -> "jdbc:mysql://db/hive")("hive", url -> "jdbc:mysql://db/hive")
  }

  test("a refusal hands out nothing") {
    val source = new Asked(_ => false)
    Values.install(source)
    try {
      val made = conf("sparkconfig.credential.fs.s3a.secret.key" -> reference)
      intercept[SparkConfigException](new ReferenceCredentials(made).getCredentialEntry("fs.s3a.secret.key"))
    } finally Values.uninstall(source)
    assertEquals(source.uses, 0)
  }
}
