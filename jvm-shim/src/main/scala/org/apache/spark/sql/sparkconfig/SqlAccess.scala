package org.apache.spark.sql.sparkconfig

import org.apache.spark.sql.connector.catalog.{Table, TableProvider}
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Utils
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.util.CaseInsensitiveStringMap

/** What the rules need of Spark SQL's private parts. */
object SqlAccess {

  /** A provider's table, with the schema that is known where the provider takes one. */
  def table(provider: TableProvider, options: CaseInsensitiveStringMap, schema: StructType): Table =
    DataSourceV2Utils.getTableFromProvider(
      provider,
      options,
      if (provider.supportsExternalMetadata()) Some(schema) else None)
}
