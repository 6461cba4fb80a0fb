@testable internal import Operations
internal import SightlineProtos
internal import SwiftProtobuf
internal import TestSupport
internal import Testing
internal import TrackingRules

struct RecoveryPieceTests {
    private func row(
        _ id: Int64, tenant: String = "a", _ event: Sightline_V1_TrackingEvent
    ) throws -> QuarantineFile.Row {
        QuarantineFile.Row(
            id: id,
            event: QuarantinedEvent(
                tenant: tenant, receiveTime: 0, verdict: .rejected, violations: [],
                event: try event.serializedBytes(), appID: event.appID, deliveryID: ""))
    }

    @Test("events are judged with those of their tenant, in the order of the file")
    func pieces() throws {
        let rows = try [
            self.row(1, tenant: "b", TestEvents.push("1")), self.row(2, TestEvents.push("2")),
            self.row(3, tenant: "b", TestEvents.push("3")),
        ]
        let pieces = RecoveryPiece.pieces(of: rows)
        #expect(pieces.map(\.tenant) == ["a", "b"])
        let settled = pieces.map { piece in
            piece.outcome(of: piece.admitted(by: RuleSet(), app: nil, receiveTime: 0)).settled
                .map(\.id)
        }
        #expect(settled == [[2], [1, 3]])
    }

    @Test("a final verdict settles an event, and a refusal that may pass another time keeps it")
    func outcome() throws {
        let rows = try [
            self.row(1, TestEvents.push("1")), self.row(2, TestEvents.push("no good")),
            self.row(3, TestEvents.push("3", flag: "off")),
            self.row(4, TestEvents.push("4", flag: "maybe")),
            self.row(
                5,
                .with {
                    $0 = TestEvents.push("5")
                    $0.consent = .optedOut
                }),
        ]
        let piece = try #require(RecoveryPiece.pieces(of: rows).first)
        let outcome = piece.outcome(of: piece.admitted(by: RuleSet(), app: nil, receiveTime: 0))
        #expect(outcome.settled.map(\.id).sorted() == [1, 3, 5])
        #expect(outcome.refused.map(\.id) == [2, 4])
        #expect(outcome.refused.map(\.event.verdict) == [.rejected, .suppressedFlagUnknown])
        #expect(outcome.refused[0].event.violations.map(\.code) == [.format])
        var counts = RecoveryCounts()
        (counts.accepted, counts.suppressed, counts.refused) = (1, 2, 2)
        #expect(outcome.counts == counts)
    }

    @Test("events that the journal did not take are neither settled nor refused")
    func interruption() throws {
        let rows = try [
            self.row(1, TestEvents.push("1")), self.row(2, TestEvents.push("no good")),
            self.row(3, TestEvents.push("3", flag: "off")),
        ]
        let piece = try #require(RecoveryPiece.pieces(of: rows).first)
        let request = piece.admitted(by: RuleSet(), app: nil, receiveTime: 0)
        request.isToRetry = true
        let outcome = piece.outcome(of: request)
        #expect(outcome.settled.isEmpty && outcome.refused.isEmpty)
        #expect(outcome.counts.interruption != nil)
    }

    @Test("another app is given to events of any size, and every other byte stays")
    func app() throws {
        for padding in [0, 100, 200, 15_000] {
            let event = Sightline_V1_TrackingEvent.with {
                $0 = TestEvents.push("1")
                $0.push.fcm.data.title = String(repeating: "t", count: padding)
            }
            let piece = try #require(RecoveryPiece.pieces(of: [try self.row(1, event)]).first)
            let request = piece.admitted(by: RuleSet(), app: "new.app", receiveTime: 0)
            var seen: [UInt8] = []
            request.forEachOutcome { outcome in
                #expect(outcome.verdict == .accepted)
                seen = outcome.event.map(Array.init) ?? []
            }
            var expected = event
            expected.appID = "new.app"
            #expect(try Sightline_V1_TrackingEvent(serializedBytes: seen) == expected)
        }
    }

    @Test("a recipient who is forgotten while its events are recovered is recorded without its id")
    func forgotten() throws {
        let event = Sightline_V1_TrackingEvent.with {
            $0 = TestEvents.push("1")
            $0.subjectID = "somebody"
        }
        let piece = try #require(RecoveryPiece.pieces(of: [try self.row(1, event)]).first)
        let forgotten = ForgottenSubjects(key: [7])
        for isForgotten in [false, true] {
            if isForgotten { forgotten.insert(forgotten.hashes(of: ["somebody"], tenant: "a")) }
            let request = piece.admitted(
                by: RuleSet(), app: nil, receiveTime: 0, forgotten: forgotten)
            var subjects: [String] = []
            request.forEachOutcome { outcome in
                let bytes: [UInt8] = outcome.event.map(Array.init) ?? []
                let parsed = try? Sightline_V1_TrackingEvent(serializedBytes: bytes)
                subjects.append(parsed?.subjectID ?? "?")
            }
            #expect(subjects == [isForgotten ? "" : "somebody"])
        }
    }

    @Test("the limits on a request do not hold for a piece, those on an event do")
    func limits() throws {
        var limits = Limits()
        (limits.requestEvents, limits.requestBytes, limits.eventBytes) = (1, 1, 200)
        let rows = try [
            self.row(1, TestEvents.push("1")), self.row(2, TestEvents.push("2")),
            self.row(3, TestEvents.push(String(repeating: "3", count: 200))),
        ]
        let piece = try #require(RecoveryPiece.pieces(of: rows).first)
        let request = piece.admitted(by: RuleSet(limits: limits), app: nil, receiveTime: 0)
        #expect(piece.outcome(of: request).settled.map(\.id) == [1, 2])
    }
}
