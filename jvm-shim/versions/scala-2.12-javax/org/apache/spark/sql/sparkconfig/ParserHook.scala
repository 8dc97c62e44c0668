package org.apache.spark.sql.sparkconfig

import java.lang.reflect.{InvocationHandler, InvocationTargetException, Method, Proxy}

import org.apache.spark.sql.catalyst.parser.ParserInterface

/**
 * The first thing that happens to every name of a catalog is that it is parsed: 3.5 has no rule as early, so the
 * parser is where a session's catalogs are prepared. The parsing itself stays as it is.
 */
object ParserHook {
  def apply(session: Sessions.Spark, parser: ParserInterface, values: CatalogHook.Values): ParserInterface =
    Proxy.newProxyInstance(
      classOf[ParserHookMarker].getClassLoader,
      Array[Class[_]](classOf[ParserInterface]),
      new InvocationHandler {
        override def invoke(proxy: AnyRef, method: Method, arguments: Array[AnyRef]): AnyRef = {
          if (method.getName.startsWith("parsePlan") || method.getName == "parseMultipartIdentifier") {
            CatalogHook.install(session, values)
          }
          try method.invoke(parser, Option(arguments).getOrElse(Array.empty[AnyRef]): _*)
          catch { case e: InvocationTargetException => throw e.getCause }
        }
      }).asInstanceOf[ParserInterface]
}

private trait ParserHookMarker
