// The steps that ExplainEvents tells: they lead to the verdict that it gives.
@testable internal import Credentials
internal import GRPCCore
@testable internal import HTTP2Edge
internal import SightlineProtos
internal import SwiftProtobuf
internal import TestSupport
internal import Testing
internal import TrackingRules
@testable internal import TrackingServer

struct ExplainerTests {
    private static func explainer(_ subjects: KeyedHash?) -> Explainer {
        Explainer(admission: Admission(subjects: subjects), tenant: .standard, journal: nil)
    }

    @Test("a subject that is hashed is judged by its hash, in the steps as in the verdict")
    func hashedSubject() async throws {
        let event = Sightline_V1_TrackingEvent.with {
            $0 = TestEvents.push("h1")
            // Longer than a name may be, and its hash is not.
            $0.subjectID = String(repeating: "s", count: 500)
        }
        let hashed = try await Self.explainer(KeyedHash(key: [1, 2, 3])).explain([event])
        #expect(hashed.results.map(\.verdict) == [.accepted])
        #expect(hashed.results.first?.explanation.first == "form: complete, and within every limit")
        let plain = try await Self.explainer(nil).explain([event])
        #expect(plain.results.map(\.verdict) == [.rejected])
        #expect(
            plain.results.first?.explanation.first
                == "form: 1 violation(s), so it is rejected")
    }

    @Test("bytes that are no event are told so, whether subjects are hashed or not")
    func malformed() async throws {
        // An event whose id is no UTF-8.
        let request = RequestBuffer([0x0a, 0x03, 0x0a, 0x01, 0xff] as [UInt8])
        for subjects in [nil, KeyedHash(key: [1, 2, 3])] {
            let response = try await Self.explainer(subjects).explain(request)
            let result = try #require(response.results.first)
            #expect(result.verdict == .rejected)
            #expect(result.explanation.first?.hasPrefix("form: the bytes are no") == true)
        }
    }
}
