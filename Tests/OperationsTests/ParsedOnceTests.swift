// An event is parsed once on its whole way, from admission to what sinks store and readers see.
#if DEBUG
internal import FileSinks
internal import SQLiteSink
internal import SightlineProtos
internal import Synchronization
internal import SwiftProtobuf
internal import Testing
internal import TestSupport
internal import WireFormat

@testable internal import Delivery
@testable internal import TrackingRules
@testable internal import SinkKit
@testable internal import Operations

struct ParsedOnceTests {
    /// How often each of a test's own events was parsed, by the subject that names it.
    private final class Parses: Sendable {
        private let marks: [String]
        private let counts: Mutex<[Int]>

        init(of marks: [String]) {
            self.marks = marks
            self.counts = Mutex([Int](repeating: 0, count: marks.count))
        }

        var all: [Int] { self.counts.withLock { $0 } }

        func note(_ event: Bytes) {
            for (place, mark) in self.marks.enumerated()
            where event.firstRange(of: mark.utf8) != nil {
                self.counts.withLock { $0[place] += 1 }
            }
        }
    }

    /// An event of each form, and one that is refused. Each has a delivery of its own, and no
    /// other test's events have it.
    private static let deliveries = ["a71c01", "a71c02", "a71c03", "a71c04", "a71c05"]

    private static func events() -> [Sightline_V1_TrackingEvent] {
        var events = Self.deliveries.map { delivery in
            Sightline_V1_TrackingEvent.with { event in
                event.eventID = "event-\(delivery)"
                event.appID = "com.example.app"
                event.subjectID = "somebody"
                event.consent = .optedIn
                event.traceContext.traceparent =
                    "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01"
            }
        }
        events[0].push.kind = .opened
        events[0].push.actionIdentifier = "reply"
        events[0].push.fcm.data.deliveryID = Self.deliveries[0]
        events[0].push.fcm.data.messageID = "h1"
        events[1].trackAction.action = .click
        events[1].trackAction.deliveryID = Self.deliveries[1]
        events[1].trackAction.broadlogID = "h2"
        events[2].inApp.messageID = Self.deliveries[2]
        events[2].inApp.click.actionURL = "app://sale"
        events[3].platform = .android
        events[3].push.kind = .opened
        events[3].push.raw.json = .init(
            #"{"data":{"_dId":"\#(Self.deliveries[3])","_mId":"h4"}}"#.utf8)
        // Without a kind it is rejected.
        events[4].push.fcm.data.deliveryID = Self.deliveries[4]
        events[4].push.fcm.data.messageID = "h5"
        return events
    }

    private static func admitted(_ subjects: KeyedHash?) throws -> AdmittedRequest {
        let bytes: [UInt8] = try TestEvents.request(1, Self.events())
        let admission = Admission(subjects: subjects)
        let request = bytes.withUnsafeBytes { buffer in
            admission.admit(
                admission.read(buffer, shape: .stream), bytes: buffer.count, tenant: "a",
                receiveTime: 1_800_000_000_000_000, keeps: .all)
        }
        request.isTapped = true
        return request
    }

    /// The way of a request behind admission: its answer and its span, the tap, and for each
    /// sink a filter and a mask.
    private static func deliver(_ request: AdmittedRequest, in directory: String) async throws {
        let tap = VerdictTap.with()
        let reader = try tap.reader { $0.appID = "com.example.app" }
        tap.show([request], of: "a")
        #expect(reader.takeAll().events.map(\.deliveryID).sorted() == Self.deliveries)
        #expect(request.acceptedEvents.map { request.eventID(of: $0) }.count == 4)
        #expect(request.eventTraces(limit: 9).count == 1)

        var payload: [UInt8] = []
        #expect(request.appendSealed(to: &payload).events == 4)
        let all = HitBatch(journal: "j", sequence: 1, payload: payload)
        let batch = try all.filtered(
            by: HitFilter(only: [.app: ["com.example.app"]], not: [.delivery: ["none"]]))
        #expect(batch.hitCount == all.hitCount)
        let forgotten = ForgottenSubjects(key: [7])
        forgotten.insert(
            forgotten.hashes(of: Subject(tenant: "a", ids: ["somebody"])))
        let sinks: [any Sink] = [
            try SQLiteSink(path: directory + "/hits.db"),
            try JSONLinesSink(directory: directory),
        ]
        for sink in sinks {
            let answer = await SerializedSink(sink, forgotten: forgotten).deliver(batch)
            #expect(answer == .delivered, "\(sink.name)")
        }
        #expect(try batch.masked(by: forgotten).payload.firstRange(of: "somebody".utf8) == nil)
    }

    // One case after the other: both have the same events.
    @Test(
        "an event is parsed once: by admission, and by no filter, mask, sink, tap or answer",
        .serialized,
        arguments: [nil, [1, 2, 3]] as [[UInt8]?])
    func parsedOnce(key: [UInt8]?) async throws {
        let parses = Parses(of: Self.deliveries)
        try await TestDirectory.with { directory in
            try await EventParses.observing(with: { parses.note($0) }) {
                let request = try Self.admitted(key.map { KeyedHash(key: $0) })
                #expect(request.acceptedEvents.count == 4 && request.refusals.count == 1)
                #expect(parses.all == [1, 1, 1, 1, 1])
                if key == nil { try await Self.deliver(request, in: directory) }
            }
        }
        #expect(parses.all == [1, 1, 1, 1, 1])
    }
}
#endif
