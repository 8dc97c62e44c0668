package org.apache.spark.sparkconfig

import _root_.io.sparkconfig.ui.{ConfigPage, ConfigStateEvent}
import com.fasterxml.jackson.annotation.JsonIgnore
import com.fasterxml.jackson.databind.JsonNode
import org.apache.spark.SparkConf
import org.apache.spark.scheduler.{SparkListener, SparkListenerEvent}
import org.apache.spark.status.{AppHistoryServerPlugin, ElementTrackingStore}
import org.apache.spark.ui.SparkUI
import org.apache.spark.util.kvstore.KVIndex

/**
 * The page Config in a history server that has this jar: the application's last state in its event log. Spark finds
 * it through the service file.
 */
class ConfigHistoryPlugin extends AppHistoryServerPlugin {
  override def createListeners(conf: SparkConf, store: ElementTrackingStore): Seq[SparkListener] =
    Seq(new SparkListener {
      override def onOtherEvent(event: SparkListenerEvent): Unit = event match {
        case state: ConfigStateEvent => store.write(new LoggedState(state.state))
        case _ =>
      }
    })

  override def setupUI(ui: SparkUI): Unit =
    if (ui.store.store.count(classOf[LoggedState]) > 0) ConfigTab.attach(ui, () => read(ui))

  private def read(ui: SparkUI): JsonNode =
    ConfigPage.parse(ui.store.store.read(classOf[LoggedState], classOf[LoggedState].getName).state)
}

/** The last state, in the history server's store of one application. */
private[spark] class LoggedState(val state: String) {
  @JsonIgnore @KVIndex
  private[spark] def id: String = classOf[LoggedState].getName
}
