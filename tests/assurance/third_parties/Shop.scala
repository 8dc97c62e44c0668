package shop

import java.util.concurrent.atomic.AtomicInteger
import java.util.{Map => JavaMap}

import SERVLET.http.{HttpServletRequest, HttpServletRequestWrapper, HttpServletResponse}
import SERVLET.{Filter, FilterChain, FilterConfig, ServletRequest, ServletResponse}
import org.apache.spark.SparkContext
import org.apache.spark.api.plugin.{DriverPlugin, ExecutorPlugin, PluginContext, SparkPlugin}
import org.apache.spark.scheduler.{SparkListener, SparkListenerJobEnd, SparkListenerTaskEnd}
import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.expressions.{ExpressionInfo, Literal}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.QueryExecution
import org.apache.spark.sql.util.QueryExecutionListener
import org.apache.spark.sql.{SparkSession, SparkSessionExtensions}

/** What a user brings along: a plugin, listeners, a session extension and a filter; all write down what they saw. */
object Seen {
  private val counts = scala.collection.mutable.SortedMap.empty[String, Int]
  def count(what: String): Unit = synchronized { counts(what) = counts.getOrElse(what, 0) + 1 }

  /** How often it happens may differ between runs. */
  def note(what: String): Unit = synchronized { counts(what) = 1 }
  def all: String = synchronized { counts.map { case (what, number) => s"$what=$number" }.mkString("\n") }
}

/** As DataFlint's does, it appends to `spark.sql.extensions` when the driver starts. */
class Plugin extends SparkPlugin {
  override def driverPlugin(): DriverPlugin = new DriverPlugin {
    override def init(context: SparkContext, plugin: PluginContext): JavaMap[String, String] = {
      val key = "spark.sql.extensions"
      val conf = context.getConf.getOption(key).toSeq :+ "shop.Extension"
      val method = context.getClass.getMethods.find(_.getName == "conf").get
      method.invoke(context).asInstanceOf[org.apache.spark.SparkConf].set(key, conf.mkString(","))
      Seen.count("driver plugin: started")
      java.util.Collections.singletonMap("shop.color", "green")
    }
    override def registerMetrics(application: String, plugin: PluginContext): Unit = {
      plugin.metricRegistry().counter("sales").inc(7)
      Seen.count("driver plugin: metrics")
    }
    override def receive(message: Any): AnyRef = { Seen.count(s"driver plugin: message $message"); "thanks" }
  }

  override def executorPlugin(): ExecutorPlugin = new ExecutorPlugin {
    private val tasks = new AtomicInteger
    override def init(plugin: PluginContext, extra: JavaMap[String, String]): Unit = {
      Seen.count(s"executor plugin: color ${extra.get("shop.color")}, ${extra.size} confs")
      Seen.count(s"executor plugin: answer ${plugin.ask("hello")}")
    }
    override def onTaskStart(): Unit = if (tasks.incrementAndGet() == 1) Seen.count("executor plugin: first task")
  }
}

class Events extends SparkListener {
  override def onJobEnd(end: SparkListenerJobEnd): Unit =
    Seen.note(s"listener: ${end.jobResult.toString.takeWhile(_ != '(')}")
  override def onTaskEnd(end: SparkListenerTaskEnd): Unit = if (end.taskMetrics == null) Seen.count("no metrics")
}

class Queries extends QueryExecutionListener {
  private def nodes(query: QueryExecution): String =
    query.analyzed.collect { case node => node.getClass.getSimpleName }.mkString(" ")
  override def onSuccess(name: String, query: QueryExecution, nanos: Long): Unit =
    Seen.note(
      s"query: $name ${nodes(query)} / ${query.executedPlan.collect { case node => node.nodeName }.mkString(" ")}")
  override def onFailure(name: String, query: QueryExecution, error: Exception): Unit =
    Seen.note(s"failed query: $name ${error.getClass.getName}")
}

class Extension extends (SparkSessionExtensions => Unit) {
  override def apply(extensions: SparkSessionExtensions): Unit = {
    Seen.count("extension: applied")
    val name = FunctionIdentifier("shop_answer")
    val info = new ExpressionInfo(classOf[Literal].getName, "shop_answer")
    extensions.injectFunction((name, info, _ => Literal(42)))
    extensions.injectResolutionRule(_ => named("resolution"))
    extensions.injectOptimizerRule(_ => named("optimizer"))
    extensions.injectCheckRule(_ => _ => ())
  }
  private def named(kind: String): Rule[LogicalPlan] = new Rule[LogicalPlan] {
    Seen.note(s"extension: $kind rule")
    override def apply(plan: LogicalPlan): LogicalPlan = plan
  }
}

class Header extends Filter {
  private var word = ""
  override def init(config: FilterConfig): Unit = word = config.getInitParameter("word")
  override def destroy(): Unit = ()
  override def doFilter(request: ServletRequest, response: ServletResponse, chain: FilterChain): Unit = {
    response.asInstanceOf[HttpServletResponse].setHeader("X-Shop", word)
    val user = new HttpServletRequestWrapper(request.asInstanceOf[HttpServletRequest]) {
      override def getRemoteUser: String = "clerk"
    }
    chain.doFilter(user, response)
  }
}
