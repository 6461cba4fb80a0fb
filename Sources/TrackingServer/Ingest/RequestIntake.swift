// A stream's requests on their way in: admitted one by one, handed on a run at a time.
internal import Credentials
internal import GRPCCore
internal import HTTP2Edge
internal import TrackingCore
internal import TrackingJournal

/// Admits a stream's requests, and hands those of a run to the ledger and the journal together. A
/// class: as a value it would lie in each of the reader's frames.
final class RequestIntake {
    private let ingest: Ingest
    private let tenant: Tenant
    private let acks: AckQueue
    private var trace: RequestTrace
    private var lastSequence: UInt64 = 0
    private var isFirst = true
    private var arrivals: [Arrival] = []
    private var room: AckLedger.Room
    private var events = 0
    private var bytes = 0
    private var heldBytes = 0
    /// Bytes that were admitted since the last were handed on, and when the first of them was.
    private var runBytes = 0
    private var runStart: UInt64 = 0

    /// Bytes of memory that may be held before they are handed on, and so are counted: those of a
    /// full run. In smaller parts the journal is woken for each, and answers each by itself.
    static let maxHeldBytes = 256 << 10

    /// The intake of a stream that has just begun.
    init(ingest: Ingest, tenant: Tenant, acks: AckQueue, metadata: Metadata) {
        self.ingest = ingest
        self.tenant = tenant
        self.acks = acks
        self.trace = RequestTrace(method: TrackingService.streamEventsName, metadata: metadata)
        self.room = acks.begin([])
    }

    /// Whether one more request may be admitted.
    var hasRoom: Bool { self.room.isLeft }

    /// Whether what was admitted has to be handed on before the next request: there is no room, the
    /// journal fills up, or much is held that the memory's budget does not know of yet.
    var isDue: Bool {
        !self.hasRoom || self.heldBytes >= Self.maxHeldBytes || self.ingest.journal.isNearlyFull
    }

    /// Admits a request.
    ///
    /// - Throws: the status that the stream ends with where the request's number does not rise.
    func admit(_ bytes: RequestBytes) throws {
        if self.arrivals.isEmpty { self.runStart = MonotonicClock.nanoseconds() }
        let (request, span, reports) = self.ingest.admit(
            bytes, shape: .stream, tenant: self.tenant, trace: &self.trace)
        if self.isFirst { self.acks.setReportsAccepted(reports) }
        self.isFirst = false
        // What cannot be read has no sequence to check; it is answered without one.
        if request.violation?.code != .malformed {
            guard request.sequence > self.lastSequence else {
                throw ServiceError.sequence(seen: request.sequence, last: self.lastSequence).status
            }
            self.lastSequence = request.sequence
        }
        self.events &+= request.eventCount
        self.bytes &+= bytes.count
        self.runBytes &+= bytes.count
        let heldBytes = request.heldBytes(requestBytes: bytes.count)
        self.heldBytes &+= heldBytes
        self.room.take(bytes: heldBytes)
        self.arrivals.append(Arrival(request: request, span: span, bytes: heldBytes))
    }

    /// The events and bytes that were admitted since this was last asked: what a quota is taken of.
    func takeCounts() -> (events: Int, bytes: Int) {
        defer { (self.events, self.bytes) = (0, 0) }
        return (self.events, self.bytes)
    }

    /// Hands on what was admitted.
    func handOn() {
        guard !self.arrivals.isEmpty else { return }
        self.ingest.metrics.countAdmission(
            bytes: self.runBytes, nanoseconds: MonotonicClock.nanoseconds() &- self.runStart)
        self.runBytes = 0
        self.room = self.acks.begin(self.arrivals)
        self.ingest.journal.append(self.arrivals.map(\.request), for: self.acks)
        self.arrivals.removeAll(keepingCapacity: true)
        self.heldBytes = 0
    }

    /// Waits until one more request may be admitted.
    func waitForRoom() async { self.room = await self.acks.waitForRoom() }
}
