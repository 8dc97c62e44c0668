"""The fields of Connect's answers that people read."""

#: What a Connect server tells in free text. All else is for programs; a field that a new Spark brings is masked until
#: somebody decides, and fails this test.
CONNECT_TEXTS = """
StreamingQueryCommandResult.StatusResult.status_message StreamingQueryCommandResult.ExplainResult.result
StreamingQueryCommandResult.RecentProgressResult.recent_progress_json StreamingQueryListenerEvent.event_json
StreamingQueryCommandResult.ExceptionResult.exception_message StreamingQueryCommandResult.ExceptionResult.stack_trace
MlCommandResult.summary MlCommandResult.MlOperatorInfo.warning_message PipelineEvent.message
AnalyzePlanResponse.Explain.explain_string ConfigResponse.warnings KeyValue.value
FetchErrorDetailsResponse.Error.message FetchErrorDetailsResponse.SparkThrowable.MessageParametersEntry.value
FetchErrorDetailsResponse.QueryContext.fragment FetchErrorDetailsResponse.QueryContext.call_site
FetchErrorDetailsResponse.QueryContext.summary FetchErrorDetailsResponse.BreakingChangeInfo.migration_message
FetchErrorDetailsResponse.MitigationConfig.value
"""
