/** The ways in which connectors read confs: what they get depends on who asks. */
package shopdb.connector {

  import org.apache.spark.SparkEnv
  import org.apache.spark.sql.SparkSession

  /** A connector: its own code asks. */
  object Client {
    private def conf(spark: SparkSession) = spark.sparkContext.getConf

    def reads(spark: SparkSession, key: String): java.util.List[String] = {
      val env = SparkEnv.get.conf
      java.util.Arrays.asList(
        conf(spark).get(key),
        conf(spark).getAll.toMap.apply(key),
        env.getAll.toMap.apply(key),
        env.clone().get(key),
        spark.conf.get(key),
        spark.conf.getAll.apply(key))
    }
  }
}

package shopdb.job {

  import org.apache.spark.SparkEnv
  import org.apache.spark.sql.SparkSession

  /** The same calls from a job, and from a job that a connector calls back. */
  object Job {
    def reads(spark: SparkSession, key: String): java.util.List[String] = {
      val env = SparkEnv.get.conf
      java.util.Arrays.asList(
        spark.sparkContext.getConf.get(key),
        spark.sparkContext.getConf.getAll.toMap.apply(key),
        env.getAll.toMap.apply(key),
        env.clone().get(key),
        spark.conf.get(key),
        spark.conf.getAll.apply(key))
    }
  }
}
