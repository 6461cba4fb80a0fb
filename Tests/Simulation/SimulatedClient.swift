// A client that resends what was not acknowledged.
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

/// Creates requests with events in protobuf's wire format.
struct RequestMaker {
    let dice: Dice
    /// The number of distinct messages; few of them give many duplicates.
    let messages: Int

    func request(_ number: Int) -> SimulatedRequest {
        let events = (1...self.dice.number(1...(self.dice.chance(0.3) ? 16 : 4))).map { _ in
            self.dice.chance(0.1) ? self.refusedEvent() : self.event()
        }
        let bytes =
            Self.field(1, number) + events.flatMap { Self.field(2, $0) }
        return SimulatedRequest(number: number, bytes: bytes)
    }

    /// An event that gives no hit: its flag is unknown, or it is none.
    private func refusedEvent() -> [UInt8] {
        if self.dice.chance(0.2) { return [0xff] }
        let flag = self.dice.pick(["ON", "true", ""])
        return Self.field(
            11,
            Self.field(1, "h1") + Self.field(2, "56c4") + Self.field(3, 7) + Self.field(4, flag))
    }

    private func event() -> [UInt8] {
        let message = "h" + String(self.dice.number(1...self.messages), radix: 16)
        if self.dice.chance(0.6) {
            let action = self.dice.pick([1, 2, 7])
            return Self.field(
                11, Self.field(1, message) + Self.field(2, "56c4") + Self.field(3, action))
        }
        let data = Self.field(1, "56c4") + Self.field(2, message)
        return Self.field(
            10, Self.field(2, Self.field(4, data)) + Self.field(3, self.dice.number(1...3)))
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

    private static func field(_ number: Int, _ value: Int) -> [UInt8] {
        Self.varint(number << 3) + Self.varint(value)
    }

    private static func field(_ number: Int, _ text: String) -> [UInt8] {
        Self.field(number, [UInt8](text.utf8))
    }

    private static func field(_ number: Int, _ bytes: [UInt8]) -> [UInt8] {
        Self.varint(number << 3 | 2) + Self.varint(bytes.count) + bytes
    }

    private static func varint(_ value: Int) -> [UInt8] {
        var value = UInt64(value)
        var bytes: [UInt8] = []
        while value >= 0x80 {
            bytes.append(UInt8(value & 0x7f) | 0x80)
            value >>= 7
        }
        return bytes + [UInt8(value)]
    }
}
