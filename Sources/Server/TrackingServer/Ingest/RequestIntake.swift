internal import Credentials
internal import GRPCCore
internal import HTTP2Edge
internal import Pacing
internal import TrackingJournal
internal import TrackingRules

/// Admits a stream's requests and submits those of a run together, to the tracker and the journal.
/// A class, because a value would take space in each of the reader's frames.
final class RequestIntake {
    private let ingest: Ingest
    private let tenant: Tenant
    private let acks: AckQueue
    // Its one reader never has two accesses at once; to check that takes 50 ns for a request.
    @exclusivity(unchecked) private var trace: RequestTrace
    private var lastSequence: UInt64 = 0
    /// The subject that was added last, which the next event is likely to have.
    private var subject: LedgerSubject?
    private var isFirst = true
    private var arrivals: [Arrival] = []
    private var room: RequestTracker.Room
    private var events = 0
    private var bytes = 0
    private var heldBytes = 0
    /// The bytes admitted since the last submission, and when the first of them was.
    private var runBytes = 0
    private var runStart: UInt64 = 0
    /// The receive time of all of them, by the wall clock, in microseconds since 1970.
    private var receiveTime: Int64 = 0
    private let line: TurnLine
    /// The bytes in flight of the tenant and the stream's connection.
    private let memory: MemoryShare
    /// The bytes admitted since the last rest.
    private var bytesSinceRest = 0

    /// The bytes after which admitted requests are submitted, and thereby counted: what a full run
    /// of usual events takes. Smaller parts would wake the journal, and be answered, one by one.
    static let maxHeldBytes = 640 << 10
    /// The bytes as they were sent, a full run, after which the stream rests.
    private static let restBytes = 256 << 10

    /// Creates the intake of a new stream.
    init(
        ingest: Ingest, tenant: Tenant, acks: AckQueue, memory: MemoryShare, metadata: Metadata
    ) {
        self.ingest = ingest
        self.tenant = tenant
        self.acks = acks
        self.memory = memory
        self.trace = RequestTrace(method: TrackingService.streamEventsName, metadata: metadata)
        self.room = acks.begin([])
        self.line = TurnLine(tenant: Array(tenant.name.utf8), stream: ObjectIdentifier(acks))
    }

    /// Lets `body` admit requests of so many bytes, once it is the stream's turn and its share of
    /// the memory has room: those before it may have filled that. They count until the turn comes,
    /// as the edge counts them only until the client leaves.
    func inTurn<Value>(_ bytes: Int, _ body: () throws -> Value) async rethrows -> Value {
        while true {
            await self.waitForMemory()
            self.memory.add(bytes)
            let value = try await self.ingest.admissionTurns.withTurn(in: self.line, bytes: bytes) {
                self.memory.remove(bytes)
                return self.memory.isFull && !Task.isCancelled ? nil : try body()
            }
            if let value { return value }
        }
    }

    /// Suspends while the connection's share of the memory is full.
    func waitForMemory() async { if self.memory.isFull { await self.memory.waitForRoom() } }

    /// Whether a full run was admitted since the last rest.
    var needsRest: Bool { self.bytesSinceRest >= Self.restBytes }

    /// Lets other tasks have the thread: a stream whose next request is always at hand is never
    /// suspended otherwise.
    func rest() async {
        self.bytesSinceRest = 0
        await Task.yield()
    }

    /// Whether another request may be admitted.
    var hasRoom: Bool { self.room.isLeft }

    /// Whether admitted requests must be submitted before the next one: there is no room, the
    /// journal is filling up, or many bytes are not counted in the memory budget yet.
    var isDue: Bool {
        !self.hasRoom || self.heldBytes >= Self.maxHeldBytes || self.ingest.journal.isNearlyFull
    }

    /// Admits a request.
    ///
    /// - Throws: the status that ends the stream if the sequence does not increase.
    func admit(_ bytes: RequestBuffer) throws {
        if self.arrivals.isEmpty {
            self.runStart = MonotonicClock.nanoseconds()
            self.receiveTime = WallClock.microseconds()
        }
        let (request, span, reports) = self.ingest.admit(
            bytes, shape: .stream, tenant: self.tenant, receiveTime: self.receiveTime,
            trace: &self.trace, likely: self.subject)
        if let subject = request.ledger.subjects.newest { self.subject = subject }
        if self.isFirst { self.acks.setReportsAccepted(reports) }
        self.isFirst = false
        // Charge the quota even if the sequence check below ends the stream.
        self.events &+= request.eventCount
        self.bytes &+= bytes.count
        // A malformed request has no reliable sequence; its answer omits it.
        if request.violation?.code != .malformed {
            guard request.sequence > self.lastSequence else {
                throw ServiceError.sequence(seen: request.sequence, last: self.lastSequence).status
            }
            self.lastSequence = request.sequence
        }
        self.runBytes &+= bytes.count
        self.bytesSinceRest &+= bytes.count
        let heldBytes = request.heldBytes(requestBytes: bytes.count)
        self.heldBytes &+= heldBytes
        self.room.take(bytes: heldBytes)
        self.arrivals.append(Arrival(request: request, span: span, bytes: heldBytes))
    }

    /// The events and bytes admitted since the last call, to charge to the quota.
    func takeCounts() -> (events: Int, bytes: Int) {
        defer { (self.events, self.bytes) = (0, 0) }
        return (self.events, self.bytes)
    }

    /// Submits the admitted requests.
    func submit() {
        guard !self.arrivals.isEmpty else { return }
        self.ingest.metrics.countAdmission(
            bytes: self.runBytes, nanoseconds: MonotonicClock.nanoseconds() &- self.runStart)
        self.runBytes = 0
        self.room = self.acks.begin(self.arrivals)
        self.ingest.journal.append(self.arrivals.map(\.request), for: self.acks)
        self.arrivals.removeAll(keepingCapacity: true)
        self.heldBytes = 0
    }

    /// Suspends until another request may be admitted.
    func waitForRoom() async { self.room = await self.acks.waitForRoom() }
}
