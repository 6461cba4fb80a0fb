// What the door to events takes, and what it answers.
internal import Foundation
internal import GRPCCore
internal import HTTPDoor
internal import HTTPTypes
internal import JSON
internal import NIOCore
internal import SightlineProtos
internal import SwiftProtobuf
internal import TestSupport
internal import Testing
internal import TrackingRules
internal import WireFormat

struct EventsDoorTests {
    private let calls = FakeCalls()

    /// An answer, and its body in JSON.
    private struct Answer {
        let response: DoorResponse
        let json: JSONObject

        var status: Int { self.response.status.code }
        var reason: String? { self.json["reason"]?.stringValue }
        var results: [JSONObject] {
            guard case .array(let results) = self.json["results"] else { return [] }
            return results.compactMap(\.objectValue)
        }
    }

    private func post(
        _ body: [UInt8], type: String? = "application/json", query: String? = nil,
        headers: HTTPFields = [:], limits: Limits = Limits()
    ) async throws -> Answer {
        var headers = headers
        if let type { headers[.contentType] = type }
        let door = try EventsDoor(calls: self.calls, limits: limits)
        let request = DoorRequest(
            method: .post, path: "/v1/events", query: query, headers: headers,
            body: ByteBuffer(bytes: body))
        #expect(door.takes(request))
        return try Self.read(await door.answer(request))
    }

    private func post(
        _ body: String, type: String? = "application/json", query: String? = nil
    ) async throws -> Answer {
        try await self.post(Array(body.utf8), type: type, query: query)
    }

    private static func read(_ response: DoorResponse) throws -> Answer {
        let json = try JSONValue(payload: Array(response.body.readableBytesView))
        return Answer(response: response, json: try #require(json.objectValue))
    }

    // MARK: Forms

    private static let mark = "\u{FEFF}"
    /// A body with the events a and b, and its type.
    private static let bodies: [(String, String?)] = [
        (#"[{"eventId":"a"},{"eventId":"b"}]"#, "application/json"),
        (mark + #" [ {"eventId":"a"} , {"eventId":"b"} ] "#, "Application/JSON; charset=UTF-8"),
        (#"{"events":[{"eventId":"a"},{"eventId":"b"}]}"#, "application/json"),
        (#"{"events":[{"eventId":"a"},{"eventId":"b"}]}"#, nil),
        (#"[{"eventId":"a"},{"eventId":"b"}]"#, nil),
        ("{\"eventId\":\"a\"}\n{\"eventId\":\"b\"}", nil),
        ("{\"eventId\":\"a\"}\r\n\n  \n{\"eventId\":\"b\"}\n", "application/x-ndjson"),
        (mark + "{\"eventId\":\"a\"}\n{\"eventId\":\"b\"}", "application/jsonl"),
    ]

    @Test("events come as an array, in an object, or in lines", arguments: bodies)
    func forms(body: String, type: String?) async throws {
        let answer = try await self.post(body, type: type)
        #expect(answer.status == 200)
        #expect(answer.response.headers[.contentType] == "application/json")
        #expect(self.calls.events.map { $0?.eventID } == ["a", "b"])
        #expect(answer.json["tally"]?.objectValue?["accepted"] == 2)
        #expect(answer.results.isEmpty)
    }

    @Test("one object is one event, also over several lines", arguments: ["application/json", nil])
    func oneEvent(type: String?) async throws {
        _ = try await self.post("{\n  \"eventId\": \"a\"\n}\n", type: type)
        #expect(self.calls.events.map { $0?.eventID } == ["a"])
    }

    @Test("a request in protobuf is passed on as it is")
    func protobuf() async throws {
        let bytes: [UInt8] = [0x0a, 3, 0x0a, 1, 0x61, 0x7a, 1, 0x62]
        let answer = try await self.post(bytes, type: "application/x-protobuf")
        #expect(answer.status == 200)
        #expect(self.calls.calls.last.map { Array($0.message.readableBytesView) } == bytes)
    }

    @Test("a payload's bytes are kept as they came")
    func rawPayload() async throws {
        let payload = #"{ "_dId":"56c4" ,"n":1.00}"#
        _ = try await self.post(
            #"{"platform":"PLATFORM_ANDROID","push":{"kind":3,"raw":{"json":\#(payload)}}}"#)
        #expect(self.calls.events.first??.push.raw.json == Data(payload.utf8))
    }

    @Test("the credentials and the trace go with the call, and cookies do not")
    func metadata() async throws {
        var headers: HTTPFields = [.authorization: "Bearer k", .cookie: "a=b"]
        headers[try #require(HTTPField.Name("traceparent"))] = "00-a-b-01"
        _ = try await self.post(Array("[]".utf8), headers: headers)
        let call = try #require(self.calls.calls.last)
        #expect(call.method.fullyQualifiedMethod == "sightline.v1.TrackingService/RecordEvents")
        #expect(Array(call.metadata[stringValues: "authorization"]) == ["Bearer k"])
        #expect(Array(call.metadata[stringValues: "traceparent"]) == ["00-a-b-01"])
        #expect(Array(call.metadata[stringValues: "cookie"]).isEmpty)
    }

    /// An empty array by Python's gzip (no time).
    private static let compressed: [UInt8] = [
        0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0x8b, 0x8e, 0x05, 0x00,
        0x29, 0xbb, 0x4c, 0x0d, 0x02, 0x00, 0x00, 0x00,
    ]

    @Test(
        "a long body, and a compressed one, which may become long, is read in bulk and no other",
        arguments: [
            (Array("[]".utf8), nil, false), (Self.compressed, "gzip", true),
            (Array("[\(String(repeating: " ", count: 4094))]".utf8), nil, true),
            (Array("[\(String(repeating: " ", count: 4093))]".utf8), nil, false),
        ] as [([UInt8], String?, Bool)])
    func bulk(body: [UInt8], encoding: String?, isBulk: Bool) async throws {
        let bulk = CountingExecutor()
        let door = try EventsDoor(calls: self.calls, limits: Limits(), bulk: bulk)
        var headers: HTTPFields = [.contentType: "application/json"]
        headers[.contentEncoding] = encoding
        let answer = await door.answer(
            DoorRequest(
                method: .post, path: "/v1/events", headers: headers, body: ByteBuffer(bytes: body)))
        #expect(answer.status == .ok && (bulk.count > 0) == isBulk)
    }

    // MARK: Verdicts

    @Test("an event that cannot be read is rejected at its place, and the others go on")
    func faultsAmongOthers() async throws {
        let answer = try await self.post(
            #"[{"eventId":"a"},{"eventId":"b","foo":1},7,{"push":{"kind":"X"}},{"eventId":"e"}]"#)
        #expect(answer.status == 200)
        #expect(answer.json["tally"]?.objectValue?["accepted"] == 2)
        #expect(answer.json["tally"]?.objectValue?["rejected"] == 3)
        #expect(answer.results.map { $0["index"]?.integerValue } == [1, 2, 3])
        #expect(answer.results.allSatisfy { $0["verdict"] == "VERDICT_REJECTED" })
        #expect(answer.results.first?["eventId"] == "b")
        let violations = answer.results.compactMap { result -> JSONObject? in
            guard case .array(let list) = result["violations"] else { return nil }
            return list.first?.objectValue
        }
        #expect(violations.map { $0["field"] } == ["foo", "", "push.kind"])
        #expect(
            violations.map { $0["code"] } == [
                "VIOLATION_CODE_MALFORMED", "VIOLATION_CODE_MALFORMED", "VIOLATION_CODE_RANGE",
            ])
        #expect(
            violations.first?["description"]?.stringValue?.contains("one of the fields") == true)
    }

    @Test("an event whose payload nests too deep is rejected alone", arguments: ["[]", "lines"])
    func deepPayload(form: String) async throws {
        let levels = 150
        let json = String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
        let events = [#"{"eventId":"a"}"#, #"{"push":{"raw":{"json":\#(json)}},"eventId":"b"}"#]
        let answer =
            form == "lines"
            ? try await self.post(events.joined(separator: "\n"), type: "application/x-ndjson")
            : try await self.post("[\(events.joined(separator: ","))]")
        #expect(answer.status == 200 && answer.json["tally"]?.objectValue?["accepted"] == 1)
        let result = try #require(answer.results.first)
        #expect(result["eventId"] == "b" && answer.results.count == 1)
        guard case .array(let list) = result["violations"] else {
            Issue.record("no violations")
            return
        }
        #expect(list.first?.objectValue?["code"] == "VIOLATION_CODE_TOO_LARGE")
        #expect(list.first?.objectValue?["field"] == "push.raw.json")
    }

    @Test("a line that is no JSON is one event that is rejected, with the line's number")
    func badLine() async throws {
        let answer = try await self.post(
            "{\"eventId\":\"a\"}\n\n{\"eventId\":\n{\"eventId\":\"c\"} x\n{\"eventId\":\"d\"}\n",
            type: "application/x-ndjson")
        #expect(answer.results.map { $0["index"]?.integerValue } == [1, 2])
        for (result, line) in zip(answer.results, ["line 3 ", "line 4 "]) {
            guard case .array(let list) = result["violations"] else {
                Issue.record("no violations")
                continue
            }
            let text = list.first?.objectValue?["description"]?.stringValue ?? ""
            #expect(text.hasPrefix(line), "\(text)")
        }
        #expect(self.calls.events.map { $0?.eventID } == ["a", nil, nil, "d"])
    }

    @Test("a line of a control character is no blank one")
    func controlCharacter() async throws {
        let answer = try await self.post("{}\n\u{1}\n \t\r\n{}\n", type: "application/x-ndjson")
        #expect(answer.results.map { $0["index"]?.integerValue } == [1])
    }

    @Test("results=all has the results of accepted events too, with hits and warnings")
    func allResults() async throws {
        let answer = try await self.post(#"[{"eventId":"a"}]"#, query: "a=b&results=all")
        let result = try #require(answer.results.first)
        #expect(result["verdict"] == "VERDICT_ACCEPTED" && result["eventId"] == "a")
        #expect(result["hits"] == ["HIT_KIND_CLICK"])
        #expect(result["warnings"] == ["WARNING_CLOCK_SKEW"])
        let other = try await self.post("[]", query: "results=some")
        #expect(other.status == 400 && other.reason == "REQUEST_MALFORMED")
    }

    @Test("a violation of the server's rules is told in the names of JSON")
    func violation() async throws {
        let answer = try await self.post(#"{"eventId":"refused"}"#)
        guard case .array(let list) = answer.results.first?["violations"] else {
            Issue.record("no violations")
            return
        }
        #expect(list.first?.objectValue?["field"] == "push.fcm.data._dId")
        #expect(list.first?.objectValue?["code"] == "VIOLATION_CODE_REQUIRED")
    }

    @Test("events to be sent again: 200, with the delay in the body and in Retry-After")
    func retryLater() async throws {
        let answer = try await self.post(#"[{"eventId":"later"},{"eventId":"a"}]"#)
        #expect(answer.status == 200)
        #expect(answer.results.first?["verdict"] == "VERDICT_RETRY_LATER")
        #expect(answer.json["retryDelay"] == "1.000000001s")
        // Rounded up: earlier would be too early.
        #expect(answer.response.headers[.retryAfter] == "2")
    }

    // MARK: Refusals of the whole

    /// A body, the offset and the line of what is wrong.
    private static let broken: [(String, Int64, Int64)] = [
        ("[{\"eventId\":\"a\"},\n{\"eventId\" \"b\"}]", 29, 2), ("[\n\n{},\n", 7, 4),
        (#"[{"foo":1,"a":01}]"#, 15, 1), ("[{} {}]", 4, 1), ("x", 0, 1), ("[] []", 3, 1),
        (#"{"events":[{}],}"#, 15, 1), (mark + "[1 2]", 6, 1),
    ]

    @Test(
        "what is no JSON refuses the whole, with its place, and no call is made", arguments: broken)
    func syntax(body: String, offset: Int64, line: Int64) async throws {
        let answer = try await self.post(body)
        #expect(answer.status == 400 && answer.reason == "REQUEST_MALFORMED")
        #expect(answer.response.headers[.contentType] == "application/problem+json")
        #expect(answer.json["offset"] == .integer(offset), "\(answer.json)")
        #expect(answer.json["line"] == .integer(line))
        #expect(self.calls.calls.isEmpty)
    }

    @Test(
        "bodies that break a rule as a whole say which",
        arguments: [
            ("", "empty"), (" \n", "empty"), (#"{"events":{}}"#, "an array"),
            (#"{"events":[],"source":1}"#, "`source` stands beside"), ("{}{}", "another object"),
            (#"{"batch":[{}],"events":[{"eventId":"a"}]}"#, "`batch` stands beside"),
        ])
    func wholeRules(body: String, text: String) async throws {
        let answer = try await self.post(body)
        #expect(answer.status == 400 && self.calls.calls.isEmpty)
        #expect(answer.json["detail"]?.stringValue?.contains(text) == true, "\(answer.json)")
    }

    @Test(
        "another media type is told what is taken",
        arguments: [
            "text/plain", "application/x-www-form-urlencoded", "application/json; charset=latin1",
            "application/json;\tcharset=latin1", "application/jsonx",
        ])
    func mediaType(type: String) async throws {
        let answer = try await self.post("[]", type: type)
        #expect(answer.status == 415 && answer.reason == "MEDIA_TYPE_UNSUPPORTED")
        #expect(answer.response.headers[.accept]?.contains("application/x-ndjson") == true)
        #expect(answer.json["detail"]?.stringValue?.contains(type.printable) == true)
    }

    @Test("another encoding is told what is taken")
    func encoding() async throws {
        let answer = try await self.post(Array("[]".utf8), headers: [.contentEncoding: "br"])
        #expect(answer.status == 415)
        #expect(answer.response.headers[.acceptEncoding]?.contains("gzip") == true)
    }

    @Test("a request may have limits.request_events events, and not one more")
    func eventsAtLimit() async throws {
        var limits = Limits()
        limits.requestEvents = 3
        func body(_ count: Int, _ separator: String) -> [UInt8] {
            Array(
                Array(repeating: "{}", count: count).joined(separator: separator).utf8)
        }
        for (separator, type) in [("\n", "application/x-ndjson"), (",", "application/json")] {
            let open: [UInt8] = separator == "," ? [UInt8(ascii: "[")] : []
            let close: [UInt8] = separator == "," ? [UInt8(ascii: "]")] : []
            let fitting = try await self.post(
                open + body(3, separator) + close, type: type, limits: limits)
            #expect(fitting.status == 200)
            let beyond = try await self.post(
                open + body(4, separator) + close, type: type, limits: limits)
            #expect(beyond.status == 413 && beyond.reason == "REQUEST_TOO_LARGE")
        }
        #expect(self.calls.calls.count == 2)
    }

    @Test("events may have limits.request_bytes in protobuf's form, and not one more")
    func bytesAtLimit() async throws {
        // Tag and length of the event, tag and length of its id, and the id.
        var limits = Limits()
        limits.requestBytes = 2 + 2 + 10
        let fitting = try await self.post(
            Array(#"{"eventId":"0123456789"}"#.utf8), limits: limits)
        #expect(fitting.status == 200)
        let beyond = try await self.post(
            Array(#"{"eventId":"0123456789a"}"#.utf8), limits: limits)
        #expect(beyond.status == 413)
    }

    @Test("a body may have the listener's bytes, and not one more")
    func bodyAtLimit() async throws {
        let event = #"{"eventId":"a"}"#
        let spaces = HTTPConfiguration.bodyBytes - event.utf8.count
        let body = event + String(repeating: " ", count: spaces)
        #expect(try await self.post(body).status == 200)
        #expect(try await self.post(body + " ").status == 413)
    }

    // MARK: Other paths and methods

    private func answer(
        _ method: HTTPRequest.Method, _ path: String, _ headers: HTTPFields = [:]
    ) async throws -> DoorResponse {
        try await EventsDoor(calls: self.calls, limits: Limits()).answer(
            DoorRequest(method: method, path: path, headers: headers))
    }

    @Test(
        "another method: 405 with those that there are; OPTIONS tells them too",
        arguments: [
            ("/v1/events", HTTPRequest.Method.get, "POST, OPTIONS"),
            ("/v1/events", .put, "POST, OPTIONS"), ("/v1/", .post, "GET, HEAD, OPTIONS"),
            ("/v1/openapi.json", .delete, "GET, HEAD, OPTIONS"),
        ])
    func methods(path: String, method: HTTPRequest.Method, allowed: String) async throws {
        let response = try await self.answer(method, path)
        #expect(response.status == .methodNotAllowed && response.headers[.allow] == allowed)
        #expect(try Self.read(response).reason == "METHOD_NOT_ALLOWED")
        let options = try await self.answer(.options, path)
        #expect(options.status == .noContent && options.headers[.allow] == allowed)
        #expect(options.body.readableBytes == 0)
    }

    @Test("GET /v1/ is text for people, or links for whoever wants JSON; HEAD is the same")
    func greeting() async throws {
        let text = try await self.answer(.get, "/v1/", [.accept: "*/*"])
        #expect(String(buffer: text.body).contains("curl --json"))
        #expect(text.headers[.contentType] == "text/plain; charset=utf-8")
        let links = try Self.read(try await self.answer(.get, "/v1", [.accept: "application/json"]))
        #expect(links.json["events"] == "/v1/events")
        // The listener leaves the body out, and says its length.
        for path in ["/v1/", "/v1/openapi.json"] {
            let (head, get) = try await (self.answer(.head, path), self.answer(.get, path))
            #expect(head.status == .ok && head.headers == get.headers && head.body == get.body)
        }
    }

    @Test("another path below /v1/ is none, and other doors' paths are left to them")
    func paths() async throws {
        let answer = try Self.read(try await self.answer(.get, "/v1/event"))
        #expect(answer.status == 404 && answer.reason == "PATH_UNKNOWN")
        let door = try EventsDoor(calls: self.calls, limits: Limits())
        for path in ["/", "/v10", "/sightline.v1.TrackingService/RecordEvents", "/r/"] {
            #expect(!door.takes(DoorRequest(method: .get, path: path)), "\(path)")
        }
    }

    @Test("any bytes: nothing traps, and each answer is one of those described")
    func anyBytes() async throws {
        print("EventsDoorTests: SIGHTLINE_TEST_SEED=\(Dice.runSeed)")
        var generator = EventGenerator(seed: Dice.runSeed)
        var statuses: Set<Int> = []
        let types = ["application/json", "application/x-ndjson", "application/x-protobuf", nil]
        for _ in 0..<500 {
            let event = try Sightline_V1_TrackingEvent(serializedBytes: generator.protoEvent())
            guard let json = try? event.jsonString() else { continue }
            let body = generator.mutated(Array("[\(json),\(json)]".utf8))
            let type = generator.dice.pick(types)
            statuses.insert(try await self.post(body, type: type).status)
        }
        #expect(statuses.isSubset(of: [200, 400]) && statuses.count == 2, "\(statuses)")
    }

    // MARK: Credentials

    @Test("a body costs nothing where the credentials are refused")
    func refused() async throws {
        let refusal = DoorAnswer(
            message: nil, status: Status(code: .unauthenticated, message: "no key"))
        let calls = FakeCalls(refusal: refusal)
        for body in ["[]", "no JSON", #"{"eventId":"a"}"#] {
            let response = try await EventsDoor(calls: calls, limits: Limits()).answer(
                DoorRequest(
                    method: .post, path: "/v1/events", headers: [.contentType: "application/json"],
                    body: ByteBuffer(string: body)))
            #expect(response.status == .unauthorized)
        }
        #expect(calls.calls.isEmpty)
    }

    // MARK: Pages

    @Test("a page of a listed origin may send, and read its answer; another may not")
    func pages() async throws {
        let door = try EventsDoor(
            calls: self.calls, limits: Limits(), corsOrigins: ["https://a.example"])
        func ask(_ method: HTTPRequest.Method, _ origin: String) async -> DoorResponse {
            var headers: HTTPFields = [.contentType: "application/json", .origin: origin]
            if method == .options { headers[.accessControlRequestMethod] = "POST" }
            return await door.answer(
                DoorRequest(
                    method: method, path: "/v1/events", headers: headers,
                    body: ByteBuffer(string: "[]")))
        }
        #expect(await ask(.options, "https://a.example").status == .noContent)
        #expect(await ask(.options, "https://b.example").status == .forbidden)
        let allowed = await ask(.post, "https://a.example").headers[.accessControlAllowOrigin]
        #expect(allowed == "https://a.example")
        #expect(await ask(.post, "https://b.example").headers[.accessControlAllowOrigin] == nil)
    }
}
