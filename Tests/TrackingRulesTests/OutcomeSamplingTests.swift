internal import SightlineProtos
internal import TestSupport
internal import Testing
@testable internal import TrackingRules

struct OutcomeSamplingTests {
    /// The chances of two events without consent, of which nothing is kept.
    private static func chances(sequence: UInt8, receiveTime: Int64) -> [UInt64] {
        // StreamEventsRequest: sequence (1), and two events (2) that are empty.
        let message: [UInt8] = [1 << 3, sequence, 2 << 3 | 2, 0, 2 << 3 | 2, 0]
        let admission = Admission()
        let request = message.withUnsafeBytes { buffer in
            admission.admit(
                admission.read(buffer, shape: .stream), bytes: buffer.count, tenant: "default",
                receiveTime: receiveTime)
        }
        var chances: [UInt64] = []
        request.forEachOutcome { chances.append($0.chance) }
        return chances
    }

    @Test("events of which nothing is kept are sampled apart, also within a run and a request")
    func apart() {
        // The requests of a run are received at one time.
        let chances = (1...100).flatMap { Self.chances(sequence: $0, receiveTime: 7) }
        #expect(chances.count == 200)
        #expect(Set(chances).count == 200)
        let sampled = chances.count { $0 < .max / 2 }
        #expect((60...140).contains(sampled), "\(sampled) of 200 are in the lower half")
    }

    @Test("an accepted event's outcome has its hits and warnings, a duplicate's has neither")
    func duplicate() throws {
        let event = TestEvent.apns(.opened) { $0.push.apns.clearAcsDeliveryTracking() }
        let request = try AdmittedRequest.of([event, event])
        let known = try #require(request.acceptedEvents.first).marks
        request.acceptedEvents[1].settle(known: known, notification: [])
        var lines: [String] = []
        request.forEachOutcome { outcome in
            let judgement = Judgement(
                verdict: outcome.verdict, hits: outcome.hits, warnings: outcome.warnings)
            lines.append(judgement.line)
        }
        #expect(lines == ["accepted: click, open +flag_assumed_on", "duplicate"])
    }
}
