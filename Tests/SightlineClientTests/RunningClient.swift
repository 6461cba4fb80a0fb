// A client that runs while a test uses it.
internal import CoreMetrics
internal import SightlineClient
internal import SightlineProtos
internal import TestSupport
internal import Testing
internal import Tracing

enum RunningClient {
    /// The settings of most tests: requests of two events, four under way, and no test waits long.
    static func configuration(_ address: ServerAddress) -> ClientConfiguration {
        var configuration = ClientConfiguration(address: address)
        configuration.limits = RequestLimits(maxEvents: 2, maxUnacknowledgedRequests: 4)
        configuration.linger = .milliseconds(1)
        // A server that waits for its turn on a busy machine is not given up.
        configuration.answerTimeout = .seconds(600)
        // Some tests leave events without a verdict.
        configuration.flushesAtExit = false
        return configuration
    }

    /// Makes a client and runs it while `body` runs; then stops it. What `run` throws is told by
    /// the calls of `body` too.
    static func with(
        _ address: ServerAddress, tracer: (any Tracer)? = nil,
        metrics: (any MetricsFactory)? = nil,
        _ change: (inout ClientConfiguration) -> Void = { _ in },
        _ body: (SightlineClient) async throws -> Void
    ) async throws {
        var configuration = self.configuration(address)
        change(&configuration)
        let client = try SightlineClient(configuration, tracer: tracer, metrics: metrics)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try? await client.run() }
            defer { group.cancelAll() }
            try await body(client)
        }
    }
}

extension SightlineClient {
    /// Sends events e0, e1, ….
    func send(_ range: Range<Int>) async throws -> [Ticket] {
        var tickets: [Ticket] = []
        for number in range { tickets.append(try await self.send(TestEvents.event("e\(number)"))) }
        return tickets
    }
}
