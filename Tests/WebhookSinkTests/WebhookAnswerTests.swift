// What an answer means, as a table.
internal import Testing

@testable internal import WebhookSink

struct WebhookAnswerTests {
    private static let ids: Set = ["a", "b"]
    private static let now: Int64 = 1_700_000_000

    private func answer(_ response: WebhookResponse) -> WebhookAnswer {
        response.answer(ids: Self.ids, now: Self.now)
    }

    @Test("every status has one meaning", arguments: 200...599)
    func statuses(status: Int) {
        let answer = self.answer(WebhookResponse(status: status, body: []))
        switch (status, answer) {
        case (200..<300, .taken([:])), (400, .refused), (422, .refused), (413, .tooLarge),
            (410, .gone):
            break
        case (200..<300, _), (400, _), (413, _), (422, _), (410, _):
            Issue.record("\(status): \(answer)")
        case (_, .unavailable(let reason, .backoff)):
            #expect(reason.hasPrefix("the receiver answered \(status): "))
        default: Issue.record("\(status): \(answer)")
        }
    }

    @Test(
        "Retry-After is seconds or a date",
        arguments: [
            ("0", 0), ("120", 120), ("99999999999999999999", .max),
            ("Tue, 14 Nov 2023 22:13:21 GMT", 1), ("Tue, 14 Nov 2023 22:13:19 GMT", 0),
            ("", nil), ("-1", nil), ("1.5", nil), ("soon", nil),
            ("Tue, 14 Nov 2023 22:13:21 GMT x", nil),
        ] as [(String, Int64?)])
    func retryAfter(_ text: String, _ seconds: Int64?) {
        #expect(WebhookResponse.seconds(text, after: Self.now) == seconds)
        for status in [408, 429, 500, 503] {
            let answer = self.answer(WebhookResponse(status: status, retryAfter: text, body: []))
            guard case .unavailable(_, let wait) = answer else {
                Issue.record("\(answer)")
                continue
            }
            #expect(wait == (seconds.map { WebhookAnswer.Wait.seconds($0) } ?? .backoff))
        }
    }

    @Test(
        "an accepted body may have refused hits, in JSON",
        arguments: [
            (
                #"{"rejected":[{"id":"b","reason":"too old"}]}"#,
                ["b": "the receiver refused it: too old"]
            ),
            (
                #"{"rejected":[{"id":"a"},{"id":"b","reason":7}],"more":1}"#,
                ["a": "the receiver refused it", "b": "the receiver refused it"]
            ),
            (#"{"rejected":[{"id":"a","reason":"x\ny"}]}"#, ["a": "the receiver refused it: xy"]),
            (#"{"rejected":[]}"#, [:]), (#"{}"#, [:]), (#"{"status":"ok"}"#, [:]), ("[]", [:]),
            (#""ok""#, [:]), ("", [:]),
        ] as [(String, [String: String])])
    func refusals(_ body: String, _ refused: [String: String]) {
        for type in ["application/json", "Application/JSON; charset=utf-8", "application/x+json"] {
            let response = WebhookResponse(
                status: 200, contentType: type, body: [UInt8](body.utf8))
            #expect(self.answer(response) == .taken(refused: refused), "\(type)")
        }
        for type in ["text/plain", "application/jsonp", "", nil] {
            let response = WebhookResponse(
                status: 202, contentType: type, body: [UInt8](body.utf8))
            #expect(self.answer(response) == .taken(refused: [:]))
        }
    }

    @Test(
        "an answer that does not tell which hits it has is asked for again",
        arguments: [
            (#"{"rejected":{}}"#, "is an object, but has to be an array"),
            (#"{"rejected":null}"#, "is null, but has to be an array"),
            (#"{"rejected":[{"id":"c"}]}"#, "without the id of a hit"),
            (#"{"rejected":["a"]}"#, "without the id of a hit"),
            (#"{"rejected":[{"id":"a"}"#, "is no JSON"), ("ok", "is no JSON"),
        ])
    func unclear(_ body: String, _ words: String) {
        let response = WebhookResponse(
            status: 200, contentType: "application/json", body: [UInt8](body.utf8))
        guard case .unavailable(let reason, .backoff) = self.answer(response) else {
            Issue.record("\(self.answer(response))")
            return
        }
        #expect(reason.contains(words), "\(reason)")
    }

    @Test("a body that is too long counts only where it is JSON")
    func tooLong() {
        var response = WebhookResponse(status: 200, contentType: "text/html", body: nil)
        #expect(self.answer(response) == .taken(refused: [:]))
        response.contentType = "application/json"
        guard case .tooLong(let reason) = self.answer(response) else {
            Issue.record("\(self.answer(response))")
            return
        }
        #expect(reason.contains("exceeds what is read"))
    }

    @Test("a reason is cut, also where it is one character", arguments: ["x", "\u{301}"])
    func longReason(repeated: String) {
        let text = String(repeating: repeated, count: 300)
        let body = #"{"rejected":[{"id":"a","reason":"\#(text)"}]}"#
        let response = WebhookResponse(
            status: 200, contentType: "application/json", body: [UInt8](body.utf8))
        guard case .taken(let refused) = self.answer(response) else {
            Issue.record("no")
            return
        }
        let scalars = refused["a"]?.unicodeScalars.count
        #expect(scalars == "the receiver refused it: ".unicodeScalars.count + 200)
    }
}
