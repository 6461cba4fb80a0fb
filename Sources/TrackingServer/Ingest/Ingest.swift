internal import AdminServer
internal import Credentials
internal import HTTP2Edge
internal import TrackingCore
internal import TrackingJournal
internal import VerdictTap

/// Admission, journal and metrics, as the service's methods share them. A class, because each open
/// stream keeps several references.
final class Ingest: Sendable {
    let admission: Admission
    let journal: Journal
    let budget: MemoryBudget
    let quotas: TenantQuotas
    let metrics: ServerMetrics
    /// Recent rejections; nil without an admin server.
    let rejections: RejectionLog?
    /// Shows verdicts to readers.
    let tap: VerdictTap
    /// Serves calls that record nothing.
    let sideCalls = SideCalls()

    init(
        admission: Admission, journal: Journal, budget: MemoryBudget, quotas: TenantQuotas,
        metrics: ServerMetrics, rejections: RejectionLog? = nil, tap: VerdictTap? = nil
    ) {
        self.admission = admission
        self.journal = journal
        self.budget = budget
        self.quotas = quotas
        self.metrics = metrics
        self.rejections = rejections
        self.tap = tap ?? VerdictTap(TapConfiguration(), limits: admission.rules.limits)
    }

    var limits: Limits { self.admission.rules.limits }

    /// Admits a request and encodes its block's header.
    ///
    /// - Parameter tenant: the tenant by the RPC's credentials.
    /// - Returns: the request, its span, and whether the client wants results for accepted events.
    func admit(
        _ bytes: RequestBytes, shape: RequestShape, tenant: Tenant, trace: inout RequestTrace
    ) -> (request: AdmittedRequest, span: RequestSpan?, reportsAccepted: Bool) {
        let receiveTime = WallClock.microseconds()
        let isTapped = self.tap.hasReaders
        let (request, reportsAccepted) = bytes.withUnsafeBytes { buffer in
            let reader = self.admission.read(buffer, shape: shape)
            let request = self.admission.admit(
                reader, bytes: buffer.count, tenant: tenant.name, receiveTime: receiveTime,
                keeps: isTapped ? .all : .none)
            return (request, reader.reportsAccepted)
        }
        request.isTapped = isTapped
        self.rejections?.note(request, at: receiveTime)
        let (context, span) = trace.begin(request, receiveTime: receiveTime)
        if !request.claims.isEmpty {
            request.header = HitBlock.header(
                entryCount: request.claims.count, entriesBytes: request.entries.count,
                receiveTime: receiveTime, tenant: tenant.name, trace: context)
        }
        return (request, span, reportsAccepted)
    }

    /// Counts settled requests of a tenant, and shows them to readers of verdicts.
    func count(_ requests: [AdmittedRequest], of method: RequestMethod, _ tenant: Tenant) {
        self.metrics.count(requests, of: method)
        self.tap.show(requests, of: tenant.name)
    }
}
