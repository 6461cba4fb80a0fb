internal import AdminServer
internal import Credentials
internal import HTTP2Edge
internal import NIOCore
internal import Operations
internal import Pacing
internal import ServerConfiguration
internal import TrackingJournal
internal import TrackingRules

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
    /// Keeps refused events; nil if none are kept.
    let quarantine: Quarantine?
    /// The turns of streams and calls whose requests are admitted.
    let admissionTurns = AdmissionTurns()
    /// Where large runs of requests are admitted, and long answers are made. On Swift's pool a
    /// single event would wait for such work twice: to be admitted, and to be answered.
    let bulkThreads = ThreadPoolExecutor(label: "sightline.bulk", threads: System.coreCount)
    /// The bytes of the smallest run that is admitted there, and the results of the shortest answer
    /// that is made there. Less is not worth two changes of threads, of some 60 µs each.
    static let (bulkBytes, bulkResults) = (64 << 10, 64)
    /// Serves calls that record no event, one at a time: whoever is served holds the lock.
    let diagnosticCalls = DiagnosticCalls()
    let diagnosticLock = AsyncLock()
    /// Bounds those that wait, and the one that is served.
    let diagnosticPlaces: SharedBound

    init(
        admission: Admission, journal: Journal, budget: MemoryBudget, quotas: TenantQuotas,
        metrics: ServerMetrics, rejections: RejectionLog? = nil, tap: VerdictTap? = nil,
        quarantine: Quarantine? = nil,
        maxWaitingCalls: Int = ServerConfiguration().maxWaitingCalls
    ) {
        self.admission = admission
        self.journal = journal
        self.budget = budget
        self.quotas = quotas
        self.metrics = metrics
        self.rejections = rejections
        self.quarantine = quarantine
        self.diagnosticPlaces = SharedBound(maxWaitingCalls + 1)
        self.tap = tap ?? VerdictTap(TapConfiguration())
    }

    var limits: Limits { self.admission.rules.limits }

    /// Admits a request and begins its span.
    ///
    /// - Parameters:
    ///   - tenant: the tenant by the RPC's credentials.
    ///   - receiveTime: its arrival, in microseconds since 1970.
    ///   - source: how it came.
    ///   - likely: the subject that its first event is likely to have.
    /// - Returns: the request, its span, and whether the client wants results for accepted events.
    func admit(
        _ bytes: RequestBuffer, shape: RequestShape, tenant: Tenant, receiveTime: Int64,
        source: EventSource = .api, trace: inout RequestTrace, likely: LedgerSubject? = nil
    ) -> (request: AdmittedRequest, span: RequestSpan?, reportsAccepted: Bool) {
        let isTapped = self.tap.hasReaders
        let (request, reportsAccepted) = bytes.withUnsafeBytes { buffer in
            let reader = self.admission.read(buffer, shape: shape)
            let request = self.admission.admit(
                reader, bytes: buffer.count, tenant: tenant.name, receiveTime: receiveTime,
                source: source,
                keeps: isTapped ? .all : self.quarantine == nil ? .none : .recoverable,
                likely: likely)
            return (request, reader.reportsAccepted)
        }
        request.isTapped = isTapped
        // A request that is refused as a whole is never settled: log it now. Refused events of
        // other requests are logged once settled, in `count`.
        if request.violation != nil { self.rejections?.note(request, at: receiveTime) }
        let span = self.begin(request, &trace)
        return (request, span, reportsAccepted)
    }

    /// The number of events in a unary request, without judging them; 0 if it is no protobuf
    /// message.
    func eventCount(of bytes: RequestBuffer) -> Int {
        bytes.withUnsafeBytes { buffer in
            let reader = self.admission.read(buffer, shape: .unary)
            return reader.error == nil ? reader.eventCount : 0
        }
    }

    /// Begins the span of an admitted request, whose hits then carry its trace context.
    func begin(_ request: AdmittedRequest, _ trace: inout RequestTrace) -> RequestSpan? {
        let (context, span) = trace.begin(
            request, receiveTime: request.receiveTime, exemplars: self.metrics.ackExemplars)
        request.trace = context
        return span
    }

    /// Counts settled requests of a tenant, shows them to readers of verdicts, and keeps what was
    /// refused.
    func count(_ requests: [AdmittedRequest], of method: RequestMethod, _ tenant: Tenant) {
        // Log rejections before counting, so that every counted rejection can be found. Events that
        // the client has to send again are not rejected yet.
        for request in requests where request.violation == nil && !request.isToRetry {
            self.rejections?.note(request, at: request.receiveTime)
        }
        self.metrics.count(requests, of: method)
        self.tap.show(requests, of: tenant.name)
        self.quarantine?.keep(requests, of: tenant.name)
    }
}
