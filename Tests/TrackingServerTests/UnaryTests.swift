// RecordEvents, ExplainEvents and InspectPayload as a foreign client sees them.
internal import Foundation
internal import GRPCCore
internal import GRPCProtobuf
@testable internal import ServerConfiguration
internal import ServerTestSupport
internal import SightlineProtos
internal import SwiftProtobuf
internal import TestSupport
internal import Testing
@testable internal import TrackingServer
internal import TrackingRules

@Suite(.timeLimit(.minutes(10)))
struct UnaryTests {
    private func run<Value: Sendable>(
        _ configure: (inout ServerConfiguration) -> Void = { _ in },
        _ body: (WireClient) async throws -> Value
    ) async throws -> Value {
        try await RunningServer.with(configure) { try await WireClient.with($0, body) }
    }

    private func details(_ error: RPCError?) throws -> [ErrorDetails] {
        try #require(try error?.unpackGoogleRPCStatus()).details
    }

    @Test("D14: results stand in the order of the events; an opened one is a click, then an open")
    func record() async throws {
        let outcome = try await self.run { client in
            try await client.record([
                TestEvents.push("h1"), TestEvents.push("h2", .received),
                TestEvents.push("h3", flag: "off"), TestEvents.push("h4", .dismissed),
                TestEvents.push("h1"), TestEvents.push("a b"),
            ])
        }
        let answer = try #require(outcome.answers.first)
        #expect(answer.results.map(\.index) == [0, 1, 2, 3, 4, 5])
        #expect(answer.results.map(\.eventID) == ["h1", "h2", "h3", "h4", "h1", "a b"])
        #expect(
            answer.results.map(\.verdict) == [
                .accepted, .accepted, .suppressedFlagOff, .accepted, .duplicate, .rejected,
            ])
        #expect(
            answer.results.map(\.hits) == [[.click, .open], [.impression], [], [.click], [], []])
        #expect(answer.tally.accepted == 3 && answer.tally.suppressed == 1)
        #expect(answer.tally.duplicate == 1 && answer.tally.rejected == 1)
        #expect(!answer.hasRetryDelay)
    }

    @Test("as many events as the limit says are taken, one more is RESOURCE_EXHAUSTED for good")
    func tooMany() async throws {
        try await self.run {
            $0.limits.requestEvents = 3
        } _: { client in
            let events = (1...4).map { TestEvents.push("h\($0)") }
            #expect(try await client.record(events.dropLast()).error == nil)
            let error = try await client.record(events).error
            #expect(error?.code == .resourceExhausted)
            let details = try self.details(error)
            #expect(details.compactMap(\.errorInfo).map(\.reason) == ["REQUEST_TOO_LARGE"])
            // A client that waits and sends the same again gets the same: nothing tells it to.
            #expect(details.compactMap(\.retryInfo).isEmpty)
        }
    }

    @Test(
        "a unary method takes exactly one message", arguments: [0, 2],
        [
            WireClient.Methods.RecordEvents.descriptor, WireClient.Methods.ExplainEvents.descriptor,
            WireClient.Methods.InspectPayload.descriptor,
        ])
    func messageCount(_ count: Int, _ method: MethodDescriptor) async throws {
        let error = try await self.run { client in
            try await client.call(
                method, Array(repeating: [], count: count),
                as: Sightline_V1_RecordEventsResponse.self
            ).error
        }
        #expect(error?.code == .invalidArgument)
        let details = try self.details(error)
        #expect(details.compactMap(\.errorInfo).map(\.reason) == ["MESSAGE_COUNT"])
    }

    @Test("a unary request that is no protobuf is INVALID_ARGUMENT")
    func malformed() async throws {
        let error = try await self.run { client in
            try await client.call(
                WireClient.Methods.RecordEvents.descriptor, [[0xff, 0xff]],
                as: Sightline_V1_RecordEventsResponse.self
            ).error
        }
        #expect(error?.code == .invalidArgument)
        let details = try self.details(error)
        #expect(details.compactMap(\.errorInfo).map(\.reason) == ["REQUEST_MALFORMED"])
    }

    @Test("D52: explaining asks the window and acceptedEvents nothing")
    func explain() async throws {
        let event = TestEvents.push("h1")
        try await self.run { client in
            for _ in 1...2 {
                let explained = try await client.explain([event]).answers.first?.results.first
                #expect(explained?.verdict == .accepted)
                #expect(explained?.explanation.isEmpty == false)
            }
            let recorded = try await client.record([event]).answers.first?.results.first
            #expect(recorded?.verdict == .accepted)
            let explained = try await client.explain([event]).answers.first?.results.first
            #expect(explained?.verdict == .duplicate)
        }
    }

    @Test(
        "D55: InspectPayload says what a vendor's client would do",
        arguments: [
            ("{\"_dId\":\"56c4\",\"_mId\":\"h1\",\"aps\":{\"alert\":\"a\"}}", true),
            ("{\"_dId\":\"56c4\",\"_mId\":1,\"aps\":{\"alert\":\"a\"}}", false),
            ("{}", false),
        ])
    func inspect(_ json: String, _ tracked: Bool) async throws {
        let outcome = try await self.inspect(json, .ios)
        #expect(outcome.error == nil && outcome.answers.first?.tracked == tracked)
        #expect(outcome.answers.first?.findings.contains { $0.severity == .error } == !tracked)
    }

    @Test(
        "InspectPayload refuses what it cannot read, and names the field",
        arguments: [
            ("{\"_dId\":", Sightline_V1_Platform.ios, "json"), ("", .android, "json"),
            ("{}", .unspecified, "platform"), ("{}", .UNRECOGNIZED(9), "platform"),
        ])
    func inspectRefuses(
        _ json: String, _ platform: Sightline_V1_Platform, _ field: String
    ) async throws {
        let error = try await self.inspect(json, platform).error
        #expect(error?.code == .invalidArgument)
        let details = try self.details(error)
        #expect(details.compactMap(\.badRequest).flatMap(\.violations).map(\.field) == [field])
    }

    private func inspect(
        _ json: String, _ platform: Sightline_V1_Platform
    ) async throws -> WireClient.Outcome<Sightline_V1_InspectPayloadResponse> {
        try await self.run { try await $0.inspect(json, platform) }
    }
}
