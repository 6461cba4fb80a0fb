// The events that are measured, each with all that a backend tells of it.

/// Events and requests of 270-byte events in protobuf's wire format.
enum EventBytes {
    /// What an event reports.
    enum Report {
        /// An opened iOS notification, which gives two hits.
        case opened
        /// The same, received.
        case received
        /// What a sender did with it.
        case sent
    }

    /// Bytes of an event, as in the other benchmarks.
    static let count = 270

    /// An event; `id` makes its ids.
    static func event(_ id: Int, _ report: Report) -> [UInt8] {
        let digits = String(UInt64(id) | 1 << 63, radix: 16)
        // Its length is one byte whatever is missing: so the subject fills it up.
        let missing = Self.count - Self.event(digits, report, subject: "").count
        let event = Self.event(digits, report, subject: String(repeating: "7", count: missing))
        precondition(event.count == Self.count, "the event takes \(event.count) bytes")
        return event
    }

    /// A StreamEventsRequest of `count` events, from the number `first` on.
    static func request(
        sequence: Int, first: Int, count: Int, _ report: Report = .opened
    ) -> [UInt8] {
        (first..<first + count).reduce(into: Self.field(1, sequence)) { bytes, id in
            bytes += Self.field(2, Self.event(id, report))
        }
    }

    private static func event(_ digits: String, _ report: Report, subject: String) -> [UInt8] {
        let time = Self.field(1, RequestPool.seconds) + Self.field(2, 123_000_000)
        let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
        return Self.field(1, digits) + Self.field(2, time) + Self.field(3, "com.example.shop")
            + Self.field(4, 2) + Self.field(5, subject)
            + Self.field(6, 1) + Self.field(7, Self.field(1, trace))
            + Self.interaction(digits, report)
    }

    private static func interaction(_ digits: String, _ report: Report) -> [UInt8] {
        switch report {
        case .opened: Self.push(digits, kind: 3)
        case .received: Self.push(digits, kind: 1)
        case .sent: Self.send(digits)
        }
    }

    private static func push(_ digits: String, kind: Int) -> [UInt8] {
        let alert =
            Self.field(1, "Back in stock")
            + Self.field(2, "The jacket that you looked at ships for free.")
        let payload =
            Self.field(1, Self.field(1, alert)) + Self.field(2, "d57fd6")
            + Self.field(3, "h" + digits) + Self.field(4, "on")
        return Self.field(10, Self.field(1, payload) + Self.field(3, kind) + Self.field(5, 2))
    }

    private static func send(_ digits: String) -> [UInt8] {
        let messageID = "123E4567-E89B-12D3-A456-426614174000"
        let send =
            Self.field(1, "d57fd6") + Self.field(2, "h" + digits) + Self.field(4, 1)
            + Self.field(7, messageID) + Self.field(8, 1) + Self.field(9, 1)
        return Self.field(14, send)
    }

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
