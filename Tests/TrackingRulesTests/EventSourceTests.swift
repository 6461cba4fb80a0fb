// How an event reached the server is what the server says (D66).
internal import SightlineProtos
internal import SwiftProtobuf
internal import TestSupport
internal import Testing
@testable internal import TrackingRules
internal import WireFormat

struct EventSourceTests {
    typealias Source = Sightline_V1_EventSource

    /// What a client sends, how its event came, and what is stored.
    private struct Row {
        let sent: [Source]
        let came: EventSource
        let stored: Source

        init(_ sent: [Source], _ came: EventSource, _ stored: Source) {
            (self.sent, self.came, self.stored) = (sent, came, stored)
        }
    }

    private static let rows = [
        Row([], .api, .unspecified), Row([.postback], .api, .unspecified),
        Row([.unspecified], .api, .unspecified),
        Row([.postback, .unspecified], .api, .unspecified),
        Row([.unspecified, .postback], .api, .unspecified),
        Row([.UNRECOGNIZED(7)], .api, .unspecified), Row([], .postback, .postback),
        Row([.postback], .postback, .postback),
        Row([.postback, .unspecified], .postback, .postback),
        Row([.UNRECOGNIZED(7)], .postback, .postback),
    ]

    /// An event whose bytes have the field as often as it is named.
    private static func bytes(_ event: TestEvent, _ sources: [Source]) throws -> [UInt8] {
        // Field 18 is a number: SwiftProtobuf writes no 0.
        try sources.reduce(event.bytes()) { $0 + [0x90, 0x01, UInt8($1.rawValue)] }
    }

    private static let events: [TestEvent] = [
        .action(.click), .fcm(.opened), .inApp { $0.inApp.impression = .init() },
        .raw(#"{"_dId":"56c4","_mId":"h138a"}"#, .ios) { $0.subjectID = "somebody" },
    ]

    /// The stored event.
    private static func stored<Value>(
        _ admission: Admission, _ event: [UInt8], from source: EventSource?,
        _ body: (JournalEvent) throws -> Value
    ) throws -> Value {
        let message = WireWriter.message { $0.field(2, event) }
        let request = message.withUnsafeBytes { bytes in
            admission.admit(
                admission.read(bytes, shape: .stream), bytes: bytes.count, tenant: "t",
                receiveTime: TestEvent.now, source: source)
        }
        var payload: [UInt8] = []
        _ = request.appendSealed(to: &payload)
        var value: Value?
        try payload.withUnsafeBytes { payload in
            try HitEncoding.forEachEvent(in: payload) { event, _ in value = try body(event) }
        }
        return try #require(value)
    }

    @Test("D66: the server writes the source behind the event, whatever the client sends")
    func written() throws {
        for row in Self.rows {
            for event in Self.events {
                for admission in [Admission(), Admission(subjects: KeyedHash(key: [1, 2, 3]))] {
                    let sent = try Self.bytes(event, row.sent)
                    try Self.stored(admission, sent, from: row.came) { event in
                        let proto = try TestEvent(serializedBytes: [UInt8](event.bytes))
                        let again = try JournalEvent(
                            parsing: event.bytes, key: event.key, kinds: event.kinds, warnings: [])
                        #expect(event.source == row.came && again.source == row.came, "\(row)")
                        #expect(proto.source == row.stored, "\(row)")
                    }
                }
            }
        }
    }

    @Test("D66: an event of the API that says nothing of its source is stored as it was sent")
    func asSent() throws {
        let sent = try Self.events[0].bytes()
        #expect(try Self.stored(Admission(), sent, from: .api) { [UInt8]($0.bytes) } == sent)
    }

    @Test("D66: where a postback's subject is removed, it remains a postback")
    func withoutSubject() throws {
        var event = TestEvent.action(.click)
        event.subjectID = "somebody"
        let (source, bytes) = try Self.stored(Admission(), try event.bytes(), from: .postback) {
            try $0.withoutSubject { ($0.source, [UInt8]($0.bytes)) }
        }
        let proto = try TestEvent(serializedBytes: bytes)
        #expect(source == .postback && proto.source == .postback && proto.subjectID.isEmpty)
    }

    @Test("D66: a refused event is kept with its source, and judged again by it")
    func kept() throws {
        for row in Self.rows {
            let event = try Self.bytes(.action(.unspecified), row.sent)
            let request = AdmittedRequest.of(
                bytes: WireWriter.message { $0.field(2, event) }, source: row.came, keeps: .all)
            var kept = try TestEvent(serializedBytes: request.keptEvents)
            #expect(kept.source == row.stored, "\(row)")
            kept.trackAction.action = .click
            let source = try Self.stored(Admission(), try kept.bytes(), from: nil) { $0.source }
            #expect(source == row.came, "\(row)")
        }
    }

    @Test("D66: the source is no part of a hit's identity: what came both ways counts once")
    func identity() throws {
        let sent = try Self.events[0].bytes()
        let keys = try EventSource.allCases.map { source in
            try Self.stored(Admission(), sent, from: source) { $0.key }
        }
        #expect(keys[0] == keys[1])
    }

    @Test("a source of a newer build counts as the API, and each has a name")
    func numbers() {
        #expect(EventSource.allCases.map(\.name) == ["api", "postback"])
        let rows: [(Int32, EventSource)] = [
            (0, .api), (1, .postback), (2, .api), (-1, .api), (257, .api),
        ]
        for (number, source) in rows { #expect(EventSource(number: number) == source) }
    }
}
