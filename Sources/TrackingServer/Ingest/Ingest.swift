// What the two recording methods share: a request's bytes in, an admitted request with its trace
// out.
internal import AdminServer
internal import Credentials
internal import HTTP2Edge
internal import TrackingCore
internal import TrackingJournal

/// Admission and the journal, as the service's methods use them. A class, since each open stream
/// keeps several copies.
final class Ingest: Sendable {
    let admission: Admission
    let journal: Journal
    let budget: MemoryBudget
    let quotas: TenantQuotas
    let metrics: ServerMetrics
    /// Where rejections are remembered; nil where nobody could look at them.
    let rejections: RejectionLog?
    /// Where calls that record nothing are served.
    let sideCalls = SideCalls()

    init(
        admission: Admission, journal: Journal, budget: MemoryBudget, quotas: TenantQuotas,
        metrics: ServerMetrics, rejections: RejectionLog? = nil
    ) {
        self.admission = admission
        self.journal = journal
        self.budget = budget
        self.quotas = quotas
        self.metrics = metrics
        self.rejections = rejections
    }

    var limits: Limits { self.admission.rules.limits }

    /// Admits a request and gives it its block's header.
    ///
    /// - Parameter tenant: who sent it, by the credentials of its RPC.
    /// - Returns: the request, its span, and whether its client wants results of accepted events
    ///   too.
    func admit(
        _ bytes: RequestBytes, shape: RequestShape, tenant: Tenant, trace: inout RequestTrace
    ) -> (request: AdmittedRequest, span: RequestSpan?, reportsAccepted: Bool) {
        let receiveTime = WallClock.microseconds()
        let (request, reportsAccepted) = bytes.withUnsafeBytes { buffer in
            let reader = self.admission.read(buffer, shape: shape)
            let request = self.admission.admit(
                reader, bytes: buffer.count, tenant: tenant.name, receiveTime: receiveTime)
            return (request, reader.reportsAccepted)
        }
        self.rejections?.note(request, at: receiveTime)
        let (context, span) = trace.begin(request, receiveTime: receiveTime)
        if !request.claims.isEmpty {
            request.header = HitBlock.header(
                entryCount: request.claims.count, entriesBytes: request.entries.count,
                receiveTime: receiveTime, tenant: tenant.name, trace: context)
        }
        return (request, span, reportsAccepted)
    }
}
