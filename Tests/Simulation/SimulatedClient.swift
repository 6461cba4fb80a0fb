// A client that resends what was not acknowledged.
internal import SightlineProtos
internal import TestSupport
internal import TrackingJournal
internal import TrackingRules
internal import W3CTrace

/// One request as its client keeps it.
struct SimulatedRequest {
    let number: Int
    let bytes: [UInt8]
}

/// The requests that a client has yet to send, and those without an ack.
struct SimulatedClient {
    private(set) var waiting: [SimulatedRequest]
    private var underWay: [Int: SimulatedRequest] = [:]
    private let maxUnderWay: Int

    init(_ requests: [SimulatedRequest], maxUnderWay: Int) {
        self.waiting = requests
        self.maxUnderWay = maxUnderWay
    }

    var isDone: Bool { self.waiting.isEmpty && self.underWay.isEmpty }
    var canSend: Bool { !self.waiting.isEmpty && self.underWay.count < self.maxUnderWay }

    mutating func send() -> SimulatedRequest {
        let request = self.waiting.removeFirst()
        self.underWay[request.number] = request
        return request
    }

    mutating func acked(_ number: Int) { self.underWay[number] = nil }

    /// The request was refused temporarily and is sent first next time.
    mutating func refused(_ number: Int) {
        guard let request = self.underWay.removeValue(forKey: number) else { return }
        self.waiting.insert(request, at: 0)
    }

    /// The connection was lost: all unacknowledged requests are sent again.
    mutating func reconnect() {
        self.waiting = self.underWay.values.sorted { $0.number < $1.number } + self.waiting
        self.underWay = [:]
    }
}

/// Creates requests as clients send them.
struct RequestMaker {
    let dice: Dice
    /// The number of distinct messages; few of them give many duplicates.
    let messages: Int

    func request(_ number: Int) throws -> SimulatedRequest {
        let events = try (1...self.dice.number(1...(self.dice.chance(0.3) ? 16 : 4))).map { _ in
            try self.dice.chance(0.1) ? self.refusedEvent() : self.event().bytes()
        }
        let bytes = WireWriter.message { request in
            request.field(1, varint: UInt64(number))
            for event in events { request.field(2, event) }
        }
        return SimulatedRequest(number: number, bytes: bytes)
    }

    /// An event that gives no hit: its flag is unknown, or it is none.
    private func refusedEvent() throws -> [UInt8] {
        if self.dice.chance(0.2) { return [0xff] }
        var event = TestEvents.impression(1)
        event.trackAction.acsDeliveryTracking = self.dice.pick(["ON", "true", ""])
        return try event.bytes()
    }

    private func event() -> TestEvent {
        let id = self.dice.number(1...self.messages)
        // Of one message mostly several: a sender tries again, and what failed may be sent later.
        if self.dice.chance(0.2) {
            return TestEvents.send(self.dice.pick([.failed, .failed, .sent, .skipped]), id: id)
        }
        if self.dice.chance(0.6) {
            return TestEvents.action(self.dice.pick([.open, .click, .impression]), id: id)
        }
        return TestEvents.push(self.dice.pick([.received, .dismissed, .opened]), id: id)
    }

    /// An admitted request, as the service submits it to the journal.
    static func admitted(_ request: SimulatedRequest, at time: Int64) -> AdmittedRequest {
        let admission = Admission()
        let admitted = request.bytes.withUnsafeBytes { buffer in
            admission.admit(
                admission.read(buffer, shape: .stream), bytes: buffer.count, tenant: "default",
                receiveTime: time)
        }
        admitted.trace = Self.trace
        return admitted
    }

    private static let trace: TraceContext = {
        var dice = Dice(seed: 1)
        return TraceContext.random(using: &dice)
    }()
}
