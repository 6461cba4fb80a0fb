// What every run prepares, however much of it is used: requests of new facts.
internal import TrackingRules
internal import W3CTrace
internal import WireFormat

/// Requests, admitted, each with facts of its own.
struct RequestPool {
    /// Requests in it.
    static let count = 128
    /// Requests that fill a window before it is measured.
    static let settledBefore = 32
    /// When the events happened, and when they come in.
    static let seconds = 1_790_000_000
    static let receiveTime = Int64(seconds) * 1_000_000

    private static let trace: TraceContext = {
        var numbers = EvenNumbers()
        return TraceContext.random(using: &numbers)
    }()

    let requests: [AdmittedRequest]
    let events: Int
    /// The bytes of the first one.
    private let message: [UInt8]

    init(events: Int) {
        self.events = events
        self.message = EventBytes.request(sequence: 1, first: 0, count: events)
        self.requests = (0..<Self.count).map { number in
            let message = EventBytes.request(
                sequence: number + 1, first: number * events, count: events)
            return message.withUnsafeBytes { Self.admit($0) }
        }
        precondition(
            self.requests.allSatisfy { $0.acceptedEvents.count == events }, "not all accepted")
    }

    /// A request as the service makes it for the journal.
    private static func admit(_ bytes: Bytes) -> AdmittedRequest {
        let admission = Admission()
        let request = admission.admit(
            admission.read(bytes, shape: .stream), bytes: bytes.count, tenant: "default",
            receiveTime: Self.receiveTime)
        request.trace = Self.trace
        return request
    }

    // MARK: Admission

    /// Admits the same request again and again.
    func admit(_ iterations: Int) -> Int {
        self.message.withUnsafeBytes { bytes in
            (0..<iterations).reduce(0) { sum, _ in sum + Self.admit(bytes).acceptedEvents.count }
        }
    }

    /// Admits the same request of other events again and again.
    func admit(_ iterations: Int, of report: EventBytes.Report) -> Int {
        let message = EventBytes.request(sequence: 1, first: 0, count: self.events, report)
        return message.withUnsafeBytes { bytes in
            (0..<iterations).reduce(0) { sum, _ in
                let count = Self.admit(bytes).acceptedEvents.count
                precondition(count == self.events, "not all accepted")
                return sum + count
            }
        }
    }

    /// Makes the keys of the first request's events.
    func makeKeys(_ iterations: Int) throws -> Int {
        var tenant = "default"
        return try tenant.withUTF8 { tenant in
            try self.message.withUnsafeBytes { message in
                let reader = Admission().read(message, shape: .stream)
                let views = try reader.events.map { try EventView($0) }
                var sum: UInt64 = 0
                for _ in 0..<iterations {
                    for view in views { sum &+= view.keys(tenant: Bytes(tenant)).fact.high }
                }
                return Int(truncatingIfNeeded: sum)
            }
        }
    }
}

/// The same numbers in every run.
private struct EvenNumbers: RandomNumberGenerator {
    private var last: UInt64 = 0

    mutating func next() -> UInt64 {
        self.last &+= 2
        return self.last
    }
}

extension AdmittedRequest {
    /// The request's block, as the journal has it.
    var block: [UInt8] {
        var block: [UInt8] = []
        self.appendSealed(to: &block)
        return block
    }
}
