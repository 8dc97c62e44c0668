package bench

import java.lang.management.ManagementFactory
import java.nio.file.{Files, Path, Paths}
import java.util.{HashMap => JHashMap}

import org.apache.kafka.common.config.ConfigTransformer
import org.apache.kafka.common.config.provider.{ConfigProvider, FileConfigProvider}

/**
 * What Kafka's own `ConfigTransformer` does with the maps of `bench_transform.py`: entries for each second of processor
 * time of this thread, the best of several runs. Arguments: folder with the files, scale.
 */
object TransformBench {
  private val Entries = 10000
  private val Special = 1000
  private val threads = ManagementFactory.getThreadMXBean

  private def plain(count: Int): JHashMap[String, String] = {
    val made = new JHashMap[String, String]()
    (0 until count).foreach(i => made.put(s"spark.some.ordinary.key.$i", s"an ordinary value, number $i"))
    made
  }

  private def files(folder: Path, count: Int, scale: Int): JHashMap[String, String] = {
    val configs = plain((Entries - Special) * scale)
    val each = Special * scale / count
    for (number <- 0 until count) {
      val path = folder.resolve(s"$count-$number.properties")
      val text = new java.lang.StringBuilder
      (0 until each).foreach(i => text.append(s"key$i=secret-$number-$i\n"))
      Files.writeString(path, text)
      (0 until each).foreach { i =>
        configs.put(s"spark.secret.$number.$i", "user=x;password=${file:" + path + s":key$i}")
      }
    }
    configs
  }

  private def speed(transformer: ConfigTransformer, configs: JHashMap[String, String]): Double = {
    var best = Double.MaxValue
    var spent = 0.0
    var runs = 0
    while (spent < 2 || runs < 20) {
      val began = threads.getCurrentThreadCpuTime
      transformer.transform(configs)
      val took = (threads.getCurrentThreadCpuTime - began) / 1e9
      best = math.min(best, took)
      spent += took
      runs += 1
    }
    configs.size / best
  }

  def main(arguments: Array[String]): Unit = {
    val folder = Paths.get(arguments(0))
    val scale = arguments(1).toInt
    val provider = new FileConfigProvider()
    provider.configure(new JHashMap[String, AnyRef]())
    val providers = new JHashMap[String, ConfigProvider]()
    providers.put("file", provider)
    val transformer = new ConfigTransformer(providers)
    val cases = Seq(
      "no reference" -> plain(Entries * scale),
      "1 file" -> files(folder, 1, scale),
      "100 files" -> files(folder, 100, scale))
    println(cases.map { case (name, configs) => s""""$name": ${speed(transformer, configs)}""" }.mkString(
      "{",
      ", ",
      "}"))
  }
}
