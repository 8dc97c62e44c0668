package io.sparkconfig.agent

import java.nio.file.{Files, Path, Paths}

import scala.collection.JavaConverters._

import io.sparkconfig.core.BuildInfo
import org.apache.spark.SparkConf

/**
 * The copy of the Python package in this jar, for interpreters that do not have it. Python reads it from the jar, so no
 * file is written. It never serves beside an operator's file: the job chooses the jar.
 */
private[agent] object CarriedPython {

  /** What goes to the end of Python's path: this jar, and Spark's own py4j. None if these classes lie in no jar. */
  def path(environment: Map[String, String]): Option[Seq[String]] =
    home(BuildInfo.getClass).filter(Files.isRegularFile(_)).map { jar =>
      jar.toString +: py4j(environment).map(_.toString).toSeq
    }

  /** `python/lib/py4j-VERSION-src.zip` of `SPARK_HOME`, or beside the folder with Spark's jars. */
  private def py4j(environment: Map[String, String]): Option[Path] = {
    val homes = environment.get("SPARK_HOME").filter(_.nonEmpty).map(Paths.get(_)).toSeq ++
      home(classOf[SparkConf]).flatMap(jar => Option(jar.getParent)).flatMap(jars => Option(jars.getParent))
    homes.map(_.resolve("python").resolve("lib")).filter(Files.isDirectory(_)).flatMap { lib =>
      val zips = Files.newDirectoryStream(lib, "py4j-*-src.zip")
      try zips.iterator().asScala.toList.sortBy(_.toString)
      finally zips.close()
    }.headOption
  }

  /** The jar or folder from which a class was loaded. */
  private def home(each: Class[_]): Option[Path] =
    try Some(Paths.get(each.getProtectionDomain.getCodeSource.getLocation.toURI).toAbsolutePath)
    catch { case _: Exception => None }
}
