package org.apache.spark.sparkconfig

import scala.xml.Node

import _root_.io.sparkconfig.redaction.sinks.Servlets
import _root_.io.sparkconfig.ui.{ConfigPage, Viewer}
import com.fasterxml.jackson.databind.JsonNode
import org.apache.spark.SparkContext
import org.apache.spark.ui.{SparkUI, SparkUITab, UIUtils, WebUIPage}
import org.json4s.JValue

/** The tab "Config" of Spark's UI; `/config/json/` returns the same as JSON. */
private final class ConfigTab(parent: SparkUI, state: () => JsonNode) extends SparkUITab(parent, "config") {
  override val name: String = "Config"
  attachPage(new ConfigTabPage(this, request => viewer(request).shown(state())))

  /** Who asks, as the filters of this UI say. Without ACLs, Spark takes everybody for an administrator. */
  private def viewer(request: Servlets.HttpRequest): Viewer = {
    val acls = parent.securityManager
    val user = Option(request.getRemoteUser)
    Viewer(user, user.exists(name => acls.aclsEnabled() && acls.checkAdminPermissions(name)))
  }
}

private final class ConfigTabPage(tab: ConfigTab, state: Servlets.HttpRequest => JsonNode) extends WebUIPage("") {
  override def render(request: Servlets.HttpRequest): Seq[Node] =
    ConfigTab.page(request, "Config", ConfigPage.content(state(request)), tab)

  override def renderJson(request: Servlets.HttpRequest): JValue =
    org.json4s.jackson.JsonMethods.parse(state(request).toString)
}

object ConfigTab {

  /** Adds the tab, if the application has a UI. */
  def attach(sc: SparkContext, state: () => JsonNode): Unit = sc.ui.foreach(attach(_, state))

  def attach(ui: SparkUI, state: () => JsonNode): Unit = ui.attachTab(new ConfigTab(ui, state))

  /** `headerSparkPage` grew parameters between 3.5 and 4.3; the ones after the fourth take their defaults. */
  private[sparkconfig] def page(
      request: Servlets.HttpRequest,
      title: String,
      content: => Seq[Node],
      tab: SparkUITab): Seq[Node] = {
    val methods = UIUtils.getClass.getMethods
    val method = methods.find(_.getName == "headerSparkPage").getOrElse(
      throw new IllegalStateException("UIUtils has no headerSparkPage in this Spark version"))
    val body: () => Seq[Node] = () => content
    val rest = (5 to method.getParameterCount).map { number =>
      methods.find(_.getName == s"headerSparkPage$$default$$$number").getOrElse(
        throw new IllegalStateException("UIUtils.headerSparkPage has another shape in this Spark version"))
        .invoke(UIUtils)
    }
    method.invoke(UIUtils, (Seq[AnyRef](request, title, body, tab) ++ rest): _*).asInstanceOf[Seq[Node]]
  }
}
