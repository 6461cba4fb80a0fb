// Requests encoded by hand: this target does not link a protobuf library.
internal import TestSupport
internal import TrackingJournal
internal import TrackingRules
internal import W3CTrace

/// Events in protobuf's wire format.
enum TestEvents {
    /// A TrackAction: 1 open, 2 click, 7 impression. `id` makes the broadlogId, `h` and hex.
    static func action(_ action: Int, id: Int) -> [UInt8] {
        let trackAction =
            Self.field(1, "h" + String(id, radix: 16)) + Self.field(2, "56c4")
            + Self.field(3, action)
        return Self.field(11, trackAction)
    }

    /// An impression; only impressions with the same `id` are duplicates.
    static func impression(_ id: Int) -> [UInt8] { Self.action(7, id: id) }

    /// What a recipient does with an Android notification; the numbers are PushInteractionKind's.
    enum Interaction: Int {
        case received = 1
        case dismissed = 2
        case opened = 3
    }

    /// A push interaction on Android, with an action button where `button` is not empty.
    static func push(_ interaction: Interaction, id: Int, button: String = "") -> [UInt8] {
        let data = Self.field(1, "56c4") + Self.field(2, "h" + String(id, radix: 16))
        var push = Self.field(2, Self.field(4, data)) + Self.field(3, interaction.rawValue)
        if !button.isEmpty { push += Self.field(4, button) }
        return Self.field(10, push)
    }

    static func field(_ number: Int, _ value: Int) -> [UInt8] {
        Self.varint(number << 3) + Self.varint(value)
    }

    static func field(_ number: Int, _ text: String) -> [UInt8] {
        Self.field(number, [UInt8](text.utf8))
    }

    static func field(_ number: Int, _ bytes: [UInt8]) -> [UInt8] {
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

/// Requests as the service hands them to the journal.
enum TestRequests {
    /// A request of these events, admitted and with its header, as the service does it.
    static func request(_ events: [[UInt8]], sequence: Int = 1) -> AdmittedRequest {
        let bytes =
            TestEvents.field(1, sequence) + events.flatMap { TestEvents.field(2, $0) }
        let receiveTime: Int64 = 1_800_000_000_000_000
        let admission = Admission()
        let request = bytes.withUnsafeBytes { buffer in
            admission.admit(
                admission.read(buffer, shape: .stream), bytes: buffer.count, tenant: "default",
                receiveTime: receiveTime)
        }
        var generator = Dice(seed: 1)
        let trace = TraceContext.random(using: &generator)
        request.trace = trace
        return request
    }

    /// A request of impressions.
    static func impressions(_ ids: some Sequence<Int>, sequence: Int = 1) -> AdmittedRequest {
        Self.request(ids.map { TestEvents.impression($0) }, sequence: sequence)
    }
}

extension AdmittedRequest {
    /// The request's block, as the journal has it.
    var block: [UInt8] {
        var block: [UInt8] = []
        self.appendSealed(to: &block)
        return block
    }

    /// The bytes of a record's ledger part, if the request is alone in its group.
    var ledgerBytes: Int {
        var delta = LedgerDelta()
        delta.add(self)
        return delta.encoded().count
    }

    /// Each accepted event's outcome, in order.
    var verdicts: [Verdict] { self.acceptedEvents.map { self.verdict(of: $0) } }

    /// Each accepted event's warnings, in order.
    var warnings: [Warnings] { self.acceptedEvents.map(\.warnings) }
}
