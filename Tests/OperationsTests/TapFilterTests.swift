@testable internal import Operations
internal import SightlineProtos
internal import SwiftProtobuf
internal import TestSupport
internal import Testing
internal import TrackingRules

struct TapFilterTests {
    /// A filter, and the events of `events` that it takes.
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var request = Sightline_V1_TapRequest()
        let ids: [String]

        init(
            _ name: String, _ ids: [String],
            _ configure: (inout Sightline_V1_TapRequest) -> Void = { _ in }
        ) {
            self.testDescription = name
            self.ids = ids
            configure(&self.request)
        }
    }

    private static let events: [Sightline_V1_TrackingEvent] = [
        TestEvents.push("accepted"), TestEvents.push("off", flag: "off"),
        TestEvents.push("unknown", flag: "maybe"),
        TestEvents.push("no good"),
        .with {
            $0 = TestEvents.push("other")
            $0.appID = "other.app"
            $0.push.fcm.data.deliveryID = "77aa"
        },
        .with {
            $0 = TestEvents.push("out")
            $0.consent = .optedOut
        },
    ]

    @Test(
        "a reader sees the events that meet all of its conditions",
        arguments: [
            Row("all", ["off", "unknown", "no good", "", "accepted", "other"]),
            Row("an app", ["other"]) { $0.appID = "other.app" },
            Row("a part of an app's name", []) { $0.appID = "other" },
            Row("a delivery", ["other"]) { $0.deliveryID = "77aa" },
            Row("app and delivery", []) {
                ($0.appID, $0.deliveryID) = ("com.example.app", "77aa")
            },
            Row("a verdict", ["no good"]) { $0.verdicts = [.rejected] },
            Row("verdicts", ["off", "", "accepted", "other"]) {
                $0.verdicts = [.accepted, .suppressedFlagOff, .suppressedConsent]
            },
            Row("a verdict that is none", []) { $0.verdicts = [.unspecified] },
            Row("one that only a newer server knows", []) { $0.verdicts = [.UNRECOGNIZED(99)] },
            Row("verdict and delivery", ["accepted"]) {
                ($0.verdicts, $0.deliveryID) = ([.accepted], "56c4")
            },
            Row("all of a sample", ["off", "unknown", "no good", "", "accepted", "other"]) {
                $0.samplingRatio = 1
            },
        ])
    func filter(_ row: Row) throws {
        let tap = VerdictTap.with()
        var request = row.request
        request.unmasked = true
        let reader = try tap.read(try TapFilter(request, tenant: "a"), from: .tenant("a"))
        tap.show([try TappedRequests.admitted(Self.events)], of: "a")
        #expect(reader.takeAll().events.map(\.event.eventID) == row.ids)
    }

    @Test("an app and a delivery are found by their bytes, whatever Unicode takes for equal")
    func spellings() throws {
        var event = TestEvents.push("h1")
        event.appID = "caf\u{e9}"
        event.push.fcm.data.deliveryID = "K1"
        for (app, delivery, count) in [
            ("caf\u{e9}", "K1", 1), ("cafe\u{301}", "K1", 0), ("caf\u{e9}", "\u{212a}1", 0),
        ] {
            let tap = VerdictTap.with()
            let reader = try tap.reader { ($0.appID, $0.deliveryID) = (app, delivery) }
            tap.show([try TappedRequests.admitted([event])], of: "a")
            #expect(reader.takeAll().events.count == count, "\(app) \(delivery)")
        }
    }

    @Test(
        "a request is taken at its limits and refused one beyond, with the field",
        arguments: [
            Row("", []) { $0.appID = String(repeating: "a", count: 256) },
            Row("", ["app_id"]) { $0.appID = String(repeating: "a", count: 257) },
            Row("", []) { $0.deliveryID = String(repeating: "a", count: 256) },
            Row("", ["delivery_id"]) { $0.deliveryID = String(repeating: "a", count: 257) },
            Row("", []) { $0.verdicts = Array(repeating: .rejected, count: 16) },
            Row("", ["verdicts"]) { $0.verdicts = Array(repeating: .rejected, count: 17) },
            Row("", []) { $0.samplingRatio = 1 },
            Row("", ["sampling_ratio"]) { $0.samplingRatio = 1.0.nextUp },
            Row("", ["sampling_ratio"]) { $0.samplingRatio = -0.1 },
            Row("", ["sampling_ratio"]) { $0.samplingRatio = .nan },
            Row("", ["sampling_ratio"]) { $0.samplingRatio = .infinity },
        ])
    func bounds(_ row: Row) {
        do throws(TapRequestError) {
            _ = try TapFilter(row.request, tenant: nil)
            #expect(row.ids == [])
        } catch {
            #expect(row.ids == [error.violation.field])
        }
    }

    @Test("a sample has its share of the events, the same each time, and larger ones contain it")
    func sampling() throws {
        let tap = VerdictTap.with { ($0.queueBytes, $0.eventsPerSecond) = (1 << 30, 1_000_000) }
        // Accepted, rejected and opted out, a third each.
        let events = (0..<6000).map { number in
            Sightline_V1_TrackingEvent.with {
                $0 = TestEvents.push(number % 3 == 1 ? "h \(number)" : "h\(number)")
                $0.consent = number % 3 == 2 ? .optedOut : .optedIn
            }
        }
        let requests = try stride(from: 0, to: 6000, by: 2000).map { start in
            try TappedRequests.admitted(
                Array(events[start..<(start + 2000)]), receiveTime: Int64(start))
        }
        func sample(_ ratio: Double) throws -> [Sightline_V1_Verdict: Set<String>] {
            let reader = try tap.reader { ($0.samplingRatio, $0.unmasked) = (ratio, true) }
            tap.show(requests, of: "a")
            return Dictionary(grouping: reader.takeAll().events, by: \.verdict).mapValues {
                Set($0.map { "\($0.event.eventID) \($0.receiveTime.nanos)" })
            }
        }
        let (tenth, half) = (try sample(0.1), try sample(0.5))
        #expect(tenth == (try sample(0.1)))
        for verdict in [Sightline_V1_Verdict.accepted, .rejected] {
            let (few, many) = (tenth[verdict] ?? [], half[verdict] ?? [])
            // Five deviations of 2,000 independent events.
            #expect((133...267).contains(few.count))
            #expect((888...1112).contains(many.count))
            #expect(few.isSubset(of: many))
        }
        #expect(half[.suppressedConsent] != nil)
    }

    @Test("the same fact is in a sample whether it is new or known already")
    func samplingOfDuplicates() throws {
        let tap = VerdictTap.with()
        let reader = try tap.reader { ($0.samplingRatio, $0.unmasked) = (0.5, true) }
        let events = (0..<50).map { TestEvents.push("h\($0)") }
        tap.show([try TappedRequests.admitted(events)], of: "a")
        let known = try TappedRequests.admitted(events)
        for index in known.acceptedEvents.indices {
            let marks = known.acceptedEvents[index].marks
            known.acceptedEvents[index].settle(known: marks, notification: marks)
        }
        let new = reader.takeAll().events
        tap.show([known], of: "a")
        let old = reader.takeAll().events
        #expect(!new.isEmpty && new.count < 50)
        #expect(new.map(\.event.eventID) == old.map(\.event.eventID))
        #expect(Set(old.map(\.verdict)) == [.duplicate])
    }
}
