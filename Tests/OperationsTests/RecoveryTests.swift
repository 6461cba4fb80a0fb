// How a recovery of kept events ends before all of them are judged.
@testable internal import Operations
internal import SightlineProtos
internal import SwiftProtobuf
internal import TestSupport
internal import Testing
internal import TrackingRules

struct RecoveryTests {
    @Test("a recovery that is cancelled ends with what it has begun, and the rest is kept")
    func cancelled() async throws {
        try await TestDirectory.with { directory in
            let file = try QuarantineFile(
                directory: directory, QuarantineConfiguration(), version: "1.2", logger: nil)
            let events = try (0..<2500).map { number in
                QuarantinedEvent(
                    tenant: "a", receiveTime: 0, verdict: .rejected, violations: [],
                    event: try TestEvents.push("h\(number)").serializedBytes(), appID: "",
                    deliveryID: "")
            }
            _ = try await file.keep(events, now: 0)
            let recovery = Recovery(of: file) { piece, app in
                withUnsafeCurrentTask { $0?.cancel() }
                return piece.admitted(by: RuleSet(), app: app, receiveTime: 0)
            }
            let recovering = Task { try await recovery.recover(QuarantineFilter(), app: nil) }
            let counts = try await recovering.value
            #expect(counts.interruption == "the server is stopping")
            #expect(counts.accepted > 0 && counts.accepted < events.count)
            let rest = try await file.rows(QuarantineFilter(), after: 0, through: .max)
            let next = try #require(rest.first).event
            #expect(
                try Sightline_V1_TrackingEvent(serializedBytes: next.event).eventID
                    == "h\(counts.accepted)")
        }
    }
}
