internal import HTTPTypes
@testable internal import HTTPDoor
internal import NIOCore
internal import Testing

struct DoorSwitchTests {
    /// A door that takes the paths with a prefix.
    private struct PrefixDoor: DoorHandler {
        let prefix: String
        let name: String

        func takes(_ request: DoorRequest) -> Bool { request.path.hasPrefix(self.prefix) }
        func answer(_ request: DoorRequest) async -> DoorResponse {
            DoorResponse(status: .ok, body: ByteBuffer(string: self.name))
        }
    }

    private let doors = DoorSwitch([
        .init(.postback, PrefixDoor(prefix: "/r/", name: "first")),
        .init(connect: PrefixDoor(prefix: "/sightline.v1.", name: "second")),
        .init(.events, PrefixDoor(prefix: "/", name: "third")),
    ])

    @Test(
        "the first door that takes a request answers it",
        arguments: [("/r/?id=1", "first"), ("/sightline.v1.A/B", "second"), ("/v1/", "third")])
    func order(_ path: String, _ name: String) async {
        let request = DoorRequest(method: .get, path: path)
        let answer = await self.doors.choice(for: request).answer(request)
        #expect(answer.body == ByteBuffer(string: name))
    }

    @Test("metrics tell Connect and gRPC-Web apart by the content type")
    func names() {
        var request = DoorRequest(method: .post, path: "/sightline.v1.A/B")
        #expect(self.doors.choice(for: request).door == .connect)
        for type in ["application/grpc-web-text", "Application/gRPC-Web+proto; charset=x"] {
            request.headers[.contentType] = type
            #expect(self.doors.choice(for: request).door == .grpcWeb, "\(type)")
        }
        let postback = DoorRequest(method: .get, path: "/r/")
        #expect(self.doors.choice(for: postback).door == .postback)
        #expect(DoorSwitch([]).choice(for: request).door == .other)
    }

    @Test("what no door takes is told what this port is")
    func nothing() async {
        let request = DoorRequest(method: .get, path: "/x\"y")
        let answer = await DoorSwitch([]).choice(for: request).answer(request)
        #expect(answer.status == .notFound)
        #expect(answer.headers[.contentType] == "application/problem+json")
        let text = String(buffer: answer.body)
        #expect(text.contains("POST /v1/events") && !text.contains("x\"y"))
    }
}
