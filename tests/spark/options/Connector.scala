package shopdb.connector

import java.util

import org.apache.spark.SparkEnv
import org.apache.spark.sql.SparkSession

/** The ways in which connectors read confs; `compile_sources.py` puts it into each of their packages. */
object Client {
  def reads(spark: SparkSession, key: String): util.List[String] = {
    val env = SparkEnv.get.conf
    util.Arrays.asList(
      spark.sparkContext.getConf.get(key),
      spark.sparkContext.getConf.getAll.toMap.apply(key),
      env.getAll.toMap.apply(key),
      env.clone().get(key),
      spark.conf.get(key),
      spark.conf.getAll.apply(key))
  }
}
