// What the answers of push services mean, by the table that all client libraries share.
internal import SightlineClient
internal import SightlineProtos
internal import TestSupport
internal import Testing

struct PushAnswerTests {
    private static let outcomes: [String: Sightline_V1_PushSendOutcome] = [
        "sent": .sent, "failed": .failed,
    ]
    private static let reasons: [String: Sightline_V1_PushSendReason] = [
        "": .unspecified, "unregistered": .unregistered, "invalid_token": .invalidToken,
        "invalid_payload": .invalidPayload, "payload_too_large": .payloadTooLarge,
        "credentials": .credentials, "throttled": .throttled, "provider_error": .providerError,
        "network": .network, "other": .other,
    ]

    @Test("an answer of a push service means what the table says")
    func table() throws {
        let rows = try Fixtures.lines("send-answers.csv").dropFirst()
        #expect(rows.count > 50)
        for row in rows {
            let cells = row.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
            try #require(cells.count == 8)
            let status = try #require(Int(cells[1]))
            let outcome = try #require(Self.outcomes[cells[5]])
            let reason = try #require(Self.reasons[cells[6]])
            var answers: [PushAnswer] = []
            if cells[0] != "fcm" { answers.append(.apns(status: status, reason: cells[2])) }
            if cells[0] != "apns" {
                answers.append(
                    .fcm(status: status, errorCode: cells[2], field: cells[3], message: cells[4]))
            }
            for answer in answers {
                #expect(answer.outcome == outcome && answer.reason == reason, "\(row)")
                #expect(answer.code == cells[7], "\(row)")
            }
        }
    }

    @Test("a word that equals a known one in other bytes is none")
    func otherBytes() {
        // The Kelvin sign is a K to Swift's strings.
        let answer = PushAnswer.apns(status: 400, reason: "Unrelated\u{212A}eyIdInToken")
        #expect(answer.reason == .other && answer.code == "400")
    }
}
