// The event that is measured: an opened iOS notification with all that a backend tells of it.

/// Events and requests of 270-byte events in protobuf's wire format.
enum EventBytes {
    /// Bytes of an event, as in the other benchmarks.
    static let count = 270

    /// An event; `id` makes its ids.
    static func opened(_ id: Int) -> [UInt8] {
        let digits = String(UInt64(id) | 1 << 63, radix: 16)
        // Its length is one byte whatever is missing: so the subject fills it up.
        let missing = Self.count - Self.opened(digits, subject: "").count
        let event = Self.opened(digits, subject: String(repeating: "7", count: missing))
        precondition(event.count == Self.count, "the event takes \(event.count) bytes")
        return event
    }

    /// A StreamEventsRequest of `count` events, from the number `first` on.
    static func request(sequence: Int, first: Int, count: Int) -> [UInt8] {
        (first..<first + count).reduce(into: Self.field(1, sequence)) { bytes, id in
            bytes += Self.field(2, Self.opened(id))
        }
    }

    private static func opened(_ digits: String, subject: String) -> [UInt8] {
        let alert =
            Self.field(1, "Back in stock")
            + Self.field(2, "The jacket that you looked at ships for free.")
        let payload =
            Self.field(1, Self.field(1, alert)) + Self.field(2, "d57fd6")
            + Self.field(3, "h" + digits) + Self.field(4, "on")
        let push = Self.field(1, payload) + Self.field(3, 3) + Self.field(5, 2)
        let time = Self.field(1, RequestPool.seconds) + Self.field(2, 123_000_000)
        let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
        return Self.field(1, digits) + Self.field(2, time) + Self.field(3, "com.example.shop")
            + Self.field(4, 2) + Self.field(5, subject)
            + Self.field(6, 1) + Self.field(7, Self.field(1, trace)) + Self.field(10, push)
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
