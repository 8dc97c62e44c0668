package io.sparkconfig.core

import org.apache.spark.sparkconfig.access.Reflect
import org.apache.spark.unsafe.memory.MemoryAllocator

/** A JVM that works for several users: a shared server's driver and its executors. */
private[sparkconfig] object SharedJvm {

  /** Before the first work of a user. */
  def prepare(): Unit = {
    XmlAccess.close()
    Proxies.fix()
    BoundedSnappy.guard()
    NoPool.replace()
    AvroReaders.plain()
    fillMemory()
  }

  /**
   * Spark hands memory that one task has freed to the next as it is, and `substring` of a text that ends within a
   * character reads up to three bytes behind it. With the system property spark.memory.debugFill Spark fills memory
   * when it hands it out and when it is freed. It reads the property once, in 3.5 before any plugin starts, and lets
   * nobody set it for executors.
   */
  private def fillMemory(): Unit = {
    val filled = Reflect.field(classOf[MemoryAllocator], "MEMORY_DEBUG_FILL_ENABLED")
    // Read it first: until then its interface has no value to be changed.
    if (!filled.getBoolean(null))
      Reflect.unsafe.putBoolean(Reflect.unsafe.staticFieldBase(filled), Reflect.unsafe.staticFieldOffset(filled), true)
  }
}
