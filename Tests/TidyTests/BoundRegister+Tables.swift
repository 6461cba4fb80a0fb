extension BoundRegister {
    /// The types with a collection or a stream that grows, as module and type. A type that is a
    /// part of others' has the owner of those.
    static let tables: [BoundRow] = [
        BoundRow(
            .one("a request"), "EventJSON/EventFault", "EventJSON/EventTranscoder",
            "HTTPDoor/EventRequest", "HTTPDoor/Problem", "JSON/JSONReader",
            "PayloadInspector/PayloadFindings",
            "TrackingRules/AdmittedRequest", "TrackingRules/Draft", "TrackingRules/Judgement",
            "TrackingRules/LedgerSubjects", "TrackingRules/RawPayload",
            "TrackingRules/RecordedSteps", "TrackingRules/RequestLedger",
            "TrackingRules/RequestReader", "TrackingRules/SubjectChange", "JSON/JSONObject",
            "Operations/QuarantinedEvent", "TrackingJournal/DeliveryTotals",
            "TrackingServer/PutBatch"),
        BoundRow(
            .one("a stream"), "TrackingServer/RequestIntake", "TrackingServer/RequestTracker",
            "HTTP2Edge/FrameQueue"),
        BoundRow(
            .one("a connection"), "HTTP2Edge/ConnectionGuard", "HTTP2Edge/FirstBytesHandler"),
        BoundRow(
            .one("a reader or a watch"), "Operations/TapQueue", "Operations/TapReader",
            "TrackingServer/HealthBoard.Watcher"),
        BoundRow(
            .one("a group of the journal"), "TrackingJournal/LedgerDelta",
            "TrackingJournal/Record"),
        BoundRow(
            .one("a delivery to a sink"), "CampaignSink/CampaignSink.Memory",
            "CampaignSink/PostbackBatch", "CampaignSink/PostbackSchedule", "FileSinks/ZstdFrames",
            "GRPCSink/DeliveredBatch", "GRPCSink/RecordBatchMessage",
            "GRPCSink/RecordBatchWriter", "KafkaSink/KafkaDelivery", "KafkaSink/KafkaMessages",
            "NATSSink/AckWindow.Answers", "PostgreSQLSink/HitRows",
            "PostgreSQLSink/HitTransaction", "SQLiteSink/HitCounts", "SQLiteSink/HitWriter",
            "SightlineSinks/PublicBatch", "SinkKit/MessageText", "SinkKit/ProtoFields",
            "SinkKit/ProtoJSONWriter", "SinkKit/RecordWriter", "WebhookSink/WebhookEvents",
            "WebhookSink/WebhookProgress",
            "WebhookSink/WebhookResponse"),
        BoundRow(
            .one("an erasure"), "FileSinks/LinesErasure", "PostgreSQLSink/RowErasure"),
        BoundRow(
            .one("a replay, of which one is under way"), "FileSinks/ArchivedHits",
            "FileSinks/ArchivedText", "SQLiteSink/StoredHits.Page"),
        BoundRow(
            .common(
                because: "bounded by the sink's own keys and files: it delivers the hits of all "
                    + "tenants in the journal's order"),
            "GRPCSink/DeliverState", "GRPCSink/DeliverStream", "KafkaSink/KafkaTopics",
            "PostgreSQLSink/HitPartitions", "PostgreSQLSink/HitStore", "SQLiteSink/HitIndex",
            "SQLiteSink/HitNames", "SQLiteSink/HitPartitions", "SQLiteSink/RunMerge",
            "SQLiteSink/SortedRun"),
        BoundRow(
            .one("the configuration"), "AdminServer/AdminConfiguration",
            "CampaignSink/CampaignConfiguration", "ConfigurationKeys/ConfigurationProblems",
            "Credentials/AuthConfiguration", "Credentials/Reader",
            "HTTP2Edge/ConnectionConfiguration", "HTTPDoor/HTTPConfiguration",
            "HTTPDoor/PostbackConfiguration", "HTTPDoor/PostbackLog",
            "NATSSink/NATSConfiguration",
            "ServerConfiguration/CampaignServerList", "ServerConfiguration/ConfigurationFile",
            "ServerConfiguration/ConfigurationValues", "ServerConfiguration/HitFilterReading",
            "ServerConfiguration/MappingList", "ServerConfiguration/MappingList.Item",
            "ServerConfiguration/OpenTelemetryVariables", "ServerConfiguration/PostbackHostList",
            "ServerConfiguration/QuotaFile",
            "ServerConfiguration/Reloader.State", "ServerConfiguration/ServerConfiguration",
            "ServerConfiguration/SinkItem", "ServerConfiguration/SinkList",
            "Telemetry/TraceResource", "Telemetry/TracesConfiguration",
            "WebhookSink/AddressGuard"),
        BoundRow(
            .one("a document for the operator"), "AdminProtocol/Statistics",
            "AdminProtocol/Statistics.Deliveries", "AdminProtocol/Statistics.Funnel",
            "AdminProtocol/Statistics.History", "AdminProtocol/Statistics.LedgerFigures",
            "AdminProtocol/Statistics.SinkHistory", "AdminServer/LedgerReading.Figures",
            "AdminServer/LivePage.State", "AdminServer/PutDeliveries",
            "AdminServer/StatisticsHistory", "AdminServer/StatisticsReading",
            "DeliveryDiagnosis/DeliveryCounts",
            "DeliveryDiagnosis/SendOrder",
            "TrackingJournal/Ledger.Funnels", "TrackingJournal/LedgerTotals",
            "TrackingServer/ActivityFigures"),
        BoundRow(
            .one("a log record or a span"), "Telemetry/BoundedAttributes", "Telemetry/JSONLine",
            "Telemetry/LogRecord", "Telemetry/SpanRecord"),
        BoundRow(
            .one("the program, which fixes its size"), "Delivery/DeadLetterLog",
            "EventJSON/EventTableMaker", "HTTP2Edge/ConnectionEnds.State",
            "Operations/Quarantine", "SinkKit/ProtoDescriptors",
            "SinkKit/ProtoJSONSchema",
            "Telemetry/HistogramSeries", "Telemetry/MetricsRegistry",
            "Telemetry/MetricsRegistry.Family", "Telemetry/MetricsRegistry.State",
            "TrackingJournal/Checkpointer", "TrackingJournal/SinkCursors",
            "TrackingRules/EventParses", "TrackingServer/DescriptorIndex",
            "TrackingServer/DoorService", "TrackingServer/Latch",
            "TrackingServer/RunningSinks", "TrackingServer/RunningSinks.State"),
        BoundRow(
            .common(because: "a part of the journal's files, which journal.max_bytes bounds"),
            "TrackingJournal/Checkpoint", "TrackingJournal/CheckpointStore.Contents",
            "TrackingJournal/FoundSegment", "TrackingJournal/FoundSegment.Reading",
            "TrackingJournal/JournalLog", "TrackingJournal/JournalWriter",
            "TrackingJournal/LogRecovery", "TrackingJournal/LogRecovery.Outcome",
            "TrackingJournal/RetentionTimes", "TrackingJournal/SegmentContents"),
        BoundRow(
            .common(because: "a part of the duplicate window: journal.recent_hits"),
            "TrackingJournal/WindowRows"),
        BoundRow(
            .common(because: "bounded by journal.cache_bytes, and its readers by the sinks"),
            "TrackingJournal/BatchCache.State"),
        BoundRow(
            .common(
                because: "each request in it counts in limits.bytes_in_flight, which tenants "
                    + "share"),
            "TrackingJournal/Journal.State", "TrackingJournal/SinkDurability"),
        BoundRow(
            .common(
                because:
                    "an entry for each open call, stream or connection; their own limits bound "
                    + "them"),
            "HTTP2Edge/BufferedBytes", "HTTP2Edge/ConnectionTable.State",
            "HTTP2Edge/OpenConnections.State", "TrackingServer/WaitingShares",
            "TrackingServer/WaitingShares.Group"),
        BoundRow(
            .common(
                because:
                    "an entry for each tenant or line that has something there; what they have "
                    + "is bounded"),
            "HTTPDoor/UpstreamPlaces", "HTTPDoor/UpstreamPlaces.Host",
            "Operations/SubjectEraser", "Pacing/SharedBound", "Pacing/TenantShares",
            "Pacing/FirstComeLine",
            "Pacing/LeastFirst",
            "Pacing/Lines", "Pacing/LockTurns"),
        BoundRow(
            .shares(
                test: "those that ask in lines have it in turns: by tenant, and then by stream"),
            "Pacing/AsyncLock.State"),
        BoundRow(
            .shares(
                test: "a tenant's request does not wait for those that another has waiting on many "
                    + "streams"),
            "TrackingServer/AdmissionTurns.State"),
        BoundRow(
            .common(
                because: "a job for each stream or call that sends large requests or gets long "
                    + "answers; admission has turns, and an answer ends at stream.max_requests"),
            "Pacing/ThreadPoolExecutor.State"),
        BoundRow(
            .shares(
                test: "a single event is in the next group, whatever waits: another tenant's, or "
                    + "another stream's"),
            "TrackingJournal/GroupQueue"),
        BoundRow(
            .shares(
                test: "a tenant that floods the ledger leaves rows to the others, again and again"),
            "TrackingJournal/Ledger", "TrackingJournal/LedgerKey", "TrackingJournal/LedgerPages"),
        BoundRow(
            .shares(
                test: "readers are refused beyond tap.max_readers and a tenant's share, the socket "
                    + "apart"),
            "Operations/VerdictTap.State"),
        BoundRow(
            .shares(
                test: "a peer with all watches leaves another its half, at the limit and not beyond"
            ),
            "TrackingServer/HealthBoard.State"),
        BoundRow(
            .shares(
                test: "whatever tenants take and give, the sum is bounded, and who has less than a "
                    + "share gets one"),
            "TrackingRules/ForgottenSubjects", "Operations/Quarantine.Waiting"),
        BoundRow(
            .common(because: "tenants beyond quotas.max_tenants share one quota"),
            "TrackingServer/TenantQuotas.Table"),
        BoundRow(
            .common(
                because: "addresses beyond 10,000 that send postbacks at once share one bucket"),
            "HTTPDoor/AddressQuotas.Table"),
        BoundRow(
            .common(
                because: "10,000 tenants with refused hits; beyond it their refusals are counted "
                    + "from zero, and no hit is lost"),
            "SinkKit/TenantRefusals"),
        BoundRow(
            .common(
                because: "remembers at most 4,096 certificates, which are checked again once "
                    + "forgotten"),
            "Credentials/ClientTrust.State"),
        BoundRow(
            .common(because: "spans beyond it are dropped and counted; no request waits"),
            "Telemetry/SpanQueue.State"),
        BoundRow(
            .common(
                because:
                    "50 kinds of rejections for the operator's page, of which the least recent "
                    + "goes: nobody is refused"),
            "AdminServer/RejectionLog"),
    ]
}
