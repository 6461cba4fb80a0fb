// What openapi.json says, against what the door does.
internal import EventJSON
internal import HTTPDoor
internal import HTTPTypes
internal import JSON
internal import NIOCore
internal import Testing
internal import TrackingRules

struct DoorDescriptionTests {
    private func description() async throws -> JSONObject {
        let door = try EventsDoor(calls: FakeCalls(), limits: Limits())
        let answer = await door.answer(DoorRequest(method: .get, path: "/v1/openapi.json"))
        #expect(answer.status == .ok && answer.headers[.contentType] == "application/json")
        let json = try JSONValue(payload: Array(answer.body.readableBytesView))
        return try #require(json.objectValue)
    }

    private func part(_ names: String...) async throws -> JSONObject {
        var part = try await self.description()
        for name in names { part = try #require(part[name]?.objectValue, "\(name)") }
        return part
    }

    @Test("every field of an event is described under both of its names, and no other is allowed")
    func fields() async throws {
        let schemas = try await self.part("components", "schemas")
        for message in try EventTable.own().messages {
            let schema = try #require(schemas[message.name]?.objectValue)
            let properties = try #require(schema["properties"]?.objectValue)
            #expect(schema["additionalProperties"] == false)
            let names = Set(message.fields.flatMap { [$0.jsonName, $0.name] })
            #expect(Set(properties.inKeyOrder.map(\.key)) == names, "\(message.name)")
        }
    }

    @Test("every reference leads to a schema")
    func references() async throws {
        let document = try await self.description()
        let schemas = try await self.part("components", "schemas")
        let text = JSONValue.object(document).text
        let names = text.matches(of: #/"#\/components\/schemas\/(\w+)"/#).map { String($0.1) }
        #expect(names.count > 10)
        for name in names { #expect(schemas[name] != nil, "\(name)") }
    }

    @Test(
        "every status that a request is refused with is described",
        arguments: [400, 401, 403, 408, 413, 415, 429, 431, 499, 500, 501, 503, 504])
    func statuses(status: Int) async throws {
        let answers = try await self.part("paths", "/v1/events", "post", "responses")
        let answer = try #require(answers["\(status)"]?.objectValue)
        #expect(answer["content"]?.objectValue?["application/problem+json"] != nil)
    }
}
