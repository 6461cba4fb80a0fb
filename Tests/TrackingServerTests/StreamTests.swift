// StreamEvents byte for byte, from the point of view of a third-party client.
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
struct StreamTests {
    private typealias Response = Sightline_V1_StreamEventsResponse

    @Test("the first answer holds the limits, before anything is sent, and no other does")
    func limits() async throws {
        try await RunningServer.with { configuration in
            configuration.limits.requestEvents = 7
            configuration.limits.requestBytes = 7000
            configuration.limits.eventBytes = 700
            configuration.stream.maxRequests = 3
        } _: { server in
            let idle = try await WireClient.with(server) { try await $0.stream([]) }
            #expect(idle.error == nil && idle.answers.count == 1)
            let outcome = try await WireClient.with(server) {
                try await $0.stream([try TestEvents.request(1)])
            }
            #expect(outcome.answers.map(\.hasLimits).filter { $0 }.count == 1)
            let limits = try #require(outcome.answers.first).limits
            #expect(limits.maxEvents == 7 && limits.maxRequestBytes == 7000)
            #expect(limits.maxEventBytes == 700 && limits.maxUnacknowledgedRequests == 3)
        }
    }

    @Test("a request that is no protobuf has a result without an index, and the stream goes on")
    func malformed() async throws {
        let outcome = try await self.exchange([
            try TestEvents.request(1, [TestEvents.push("h1")]), [0xff, 0xff, 0xff],
            try TestEvents.request(2, [TestEvents.push("h2")]),
        ])
        #expect(outcome.error == nil)
        let results = outcome.answers.flatMap(\.results)
        #expect(results.count == 1)
        let result = try #require(results.first)
        #expect(!result.hasIndex && result.verdict == .rejected)
        #expect(result.violations.map(\.code) == [.malformed])
        #expect(outcome.answers.last?.durableSequence == 2)
        #expect(outcome.answers.map(\.tally.accepted).reduce(0, +) == 2)
    }

    /// A request that is refused as a whole, and the events that can be counted in it.
    private struct Refusal: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let events: Int
        var end: [UInt8] = []
        let code: Sightline_V1_ViolationCode
    }

    @Test(
        "tallies come to the events sent, those of a request that is refused as a whole too",
        arguments: [
            Refusal(testDescription: "one event too many", events: 5, code: .tooLarge),
            Refusal(testDescription: "many too many", events: 300, code: .tooLarge),
            Refusal(
                testDescription: "too many bytes", events: 2,
                end: [0xa2, 0x06, 0xb0, 0x09] + [UInt8](repeating: 0, count: 1200),
                code: .tooLarge),
            Refusal(
                testDescription: "no protobuf, in which events cannot be told apart", events: 0,
                end: [0x12, 0x7f], code: .malformed),
        ])
    private func wholeRefusals(_ refusal: Refusal) async throws {
        let events = (0..<refusal.events).map { TestEvents.push("h9\($0)") }
        let refused = try TestEvents.request(2, events) + refusal.end
        let outcome = try await RunningServer.with { configuration in
            configuration.limits.requestEvents = 4
            configuration.limits.requestBytes = 1000
        } _: { server in
            try await WireClient.with(server) { client in
                try await client.stream([
                    try TestEvents.request(1, [TestEvents.push("h1"), TestEvents.push("h2")]),
                    refused,
                    try TestEvents.request(3, [TestEvents.push("no good")]),
                ])
            }
        }
        #expect(outcome.error == nil && outcome.answers.last?.durableSequence == 3)
        #expect(outcome.answers.map(\.tally.accepted).reduce(0, +) == 2)
        #expect(outcome.answers.map(\.tally.rejected).reduce(0, +) == UInt64(refusal.events) + 1)
        let whole = outcome.answers.flatMap(\.results).filter { !$0.hasIndex }
        #expect(whole.flatMap(\.violations).map(\.code) == [refusal.code])
    }

    @Test("a bad event harms no other in its request")
    func badEvent() async throws {
        let outcome = try await self.exchange([
            try TestEvents.request(
                5, [TestEvents.push("h1"), TestEvents.push("no good"), TestEvents.push("h2")])
        ])
        let results = outcome.answers.flatMap(\.results)
        #expect(results.map(\.index) == [1] && results.map(\.sequence) == [5])
        #expect(results.map(\.verdict) == [.rejected])
        #expect(outcome.answers.map(\.tally.accepted).reduce(0, +) == 2)
    }

    @Test("accepted events have results where the first request asks for them, else none")
    func reportAccepted() async throws {
        let events = [TestEvents.push("h1"), TestEvents.push("h2", .received)]
        let silent = try await self.exchange([
            try TestEvents.request(1, events),
            try TestEvents.request(2, [TestEvents.push("h3")], reportAccepted: true),
        ])
        #expect(silent.answers.flatMap(\.results).isEmpty)
        let told = try await self.exchange([
            try TestEvents.request(1, events, reportAccepted: true),
            try TestEvents.request(2, [TestEvents.push("h3")]),
        ])
        let results = told.answers.flatMap(\.results)
        #expect(results.map(\.eventID) == ["h1", "h2", "h3"])
        #expect(results.map(\.hits) == [[.click, .open], [.impression], [.click, .open]])
    }

    @Test(
        "D53: a sequence of 0, or one that does not rise, ends the stream and names `sequence`",
        arguments: [[0], [1, 1], [4, 3], [2, 5, 0]] as [[UInt64]])
    func sequence(_ sequences: [UInt64]) async throws {
        let outcome = try await self.exchange(try sequences.map { try TestEvents.request($0) })
        let error = try #require(outcome.error)
        #expect(error.code == .invalidArgument)
        let details = try #require(try error.unpackGoogleRPCStatus()).details
        #expect(details.compactMap(\.badRequest).flatMap(\.violations).map(\.field) == ["sequence"])
        #expect(details.compactMap(\.errorInfo).map(\.reason) == ["SEQUENCE_NOT_RISING"])
        // Requests before the bad one are settled and acknowledged.
        #expect(outcome.answers.last?.durableSequence == sequences.dropLast().max() ?? 0)
    }

    @Test("D53: a sequence may skip numbers, and start above 1")
    func risingSequence() async throws {
        let outcome = try await self.exchange(
            try [3, 4, 900, .max].map { try TestEvents.request($0) })
        #expect(outcome.error == nil && outcome.answers.last?.durableSequence == .max)
    }

    @Test("a stream of many requests with a small window is answered to its end")
    func smallWindow() async throws {
        let outcome = try await RunningServer.with {
            $0.stream.maxRequests = 1
        } _: { server in
            try await WireClient.with(server) { client in
                try await client.stream(
                    try (1...300).map { try TestEvents.request($0, [TestEvents.push("h\($0)")]) })
            }
        }
        #expect(outcome.error == nil && outcome.answers.last?.durableSequence == 300)
        #expect(outcome.answers.map(\.tally.accepted).reduce(0, +) == 300)
    }

    // MARK: The end of a stream

    @Test("a server that stops says closing, takes what comes within the grace, and acks it")
    func closing() async throws {
        let second = try TestEvents.request(2, [TestEvents.push("h2")])
        let outcome = try await self.stop(grace: .seconds(300)) { requests in
            requests.yield(second)
            requests.finish()
        }
        #expect(outcome.error == nil)
        #expect(outcome.answers.filter(\.hasClosing).count == 1)
        #expect(outcome.answers.first(where: \.hasClosing)?.closing.grace.seconds == 300)
        #expect(outcome.answers.last?.durableSequence == 2)
    }

    @Test("a client that does not finish within the grace gets UNAVAILABLE with RetryInfo")
    func closed() async throws {
        let outcome = try await self.stop(grace: .milliseconds(50)) { _ in }
        let error = try #require(outcome.error)
        #expect(error.code == .unavailable)
        let details = try #require(try error.unpackGoogleRPCStatus()).details
        #expect(details.compactMap(\.retryInfo).map(\.delay) == [.zero])
        #expect(details.compactMap(\.errorInfo).map(\.reason) == ["SERVER_CLOSING"])
        #expect(outcome.answers.filter(\.hasClosing).map(\.durableSequence) == [1])
        #expect(outcome.answers.last?.durableSequence == 1)
    }

    /// Sends request 1, stops the server when it is acked, and lets the test go on at `closing`.
    private func stop(
        grace: Duration,
        onClosing: @escaping @Sendable (AsyncStream<[UInt8]>.Continuation) -> Void
    ) async throws -> WireClient.Outcome<Response> {
        let first = try TestEvents.request(1, [TestEvents.push("h1")])
        return try await RunningServer.with {
            $0.stream.closingGrace = grace
        } _: { server in
            try await WireClient.with(server) { client in
                let (requests, sender) = AsyncStream.makeStream(of: [UInt8].self)
                sender.yield(first)
                return try await client.call(
                    WireClient.Methods.StreamEvents.descriptor, requests
                ) { (answer: Response) in
                    if answer.hasClosing {
                        onClosing(sender)
                    } else if answer.durableSequence == 1 {
                        await server.stop()
                    }
                }
            }
        }
    }

    private func exchange(_ requests: [[UInt8]]) async throws -> WireClient.Outcome<Response> {
        try await RunningServer.with { server in
            try await WireClient.with(server) { try await $0.stream(requests) }
        }
    }
}
