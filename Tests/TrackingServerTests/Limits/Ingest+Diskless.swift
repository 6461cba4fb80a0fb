@testable internal import ServerConfiguration
internal import ServerTestSupport
internal import TrackingJournal
internal import TrackingRules
@testable internal import TrackingServer

extension Ingest {
    /// One without a disk and without sinks, for requests that may hold 1,000 bytes; new calls are
    /// refused from 500 on.
    static func diskless() throws -> Ingest {
        Ingest(
            admission: Admission(),
            journal: try Journal(
                directory: "", sinks: [], configuration: .diskless, onFailure: { _ in }),
            budget: MemoryBudget(hardBytes: 1000, softPercent: 50),
            quotas: try TenantQuotas(QuotaConfiguration()), metrics: ServerMetrics())
    }
}
