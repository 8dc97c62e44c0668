package io.sparkconfig.policy.doors

import io.sparkconfig.policy.KeptConfs
import org.apache.hive.service.cli.OperationHandle
import org.apache.hive.service.cli.OperationType.GET_FUNCTIONS
import org.apache.hive.service.rpc.thrift.TRowSet

/** [[KeptConfs]] in what a driver asks a Thrift server for. */
private[sparkconfig] object KeptRemarks {

  /** What a driver gets about the functions of a catalog. */
  def mask(operation: OperationHandle, found: TRowSet): Unit = if (operation.getOperationType == GET_FUNCTIONS) {
    if (found.isSetColumns) found.getColumns.forEach { column =>
      if (column.isSetStringVal) column.getStringVal.getValues.replaceAll(KeptConfs.masked(_))
    }
    if (found.isSetRows) found.getRows.forEach(_.getColVals.forEach { cell =>
      if (cell.isSetStringVal && cell.getStringVal.isSetValue)
        cell.getStringVal.setValue(KeptConfs.masked(cell.getStringVal.getValue))
    })
  }
}
