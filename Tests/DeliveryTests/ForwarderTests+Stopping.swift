// A stop while the sink has no answer.
internal import Logging
internal import ServiceLifecycle
internal import SinkTestSupport
internal import Testing
internal import TrackingJournal

extension ForwarderTests {
    @Test(
        "a delivery without an answer is cancelled when the flush is over, and its batch stays",
        .timeLimit(.minutes(10)))
    func silentSink() async throws {
        var journal = try await self.journal("silent", commits: 1...2)
        let sink = SilentSink()
        // No time at all: what is cancelled here would be so later otherwise.
        let forwarder = try self.forwarder(journal, sink, flushTimeout: .zero)
        let group = ServiceGroup(
            services: [forwarder], logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        async let ended: Void = group.run()
        await sink.waitUntilAsked()
        #expect(sink.cancellations == [])
        await group.triggerGracefulShutdown()
        try await ended
        #expect(sink.cancellations == [1])
        #expect(journal.cursor(of: "silent") == 0)
        await journal.close()
        journal = try await self.journal("silent")
        #expect(journal.cursor(of: "silent") == 0)
        await journal.close()
    }
}
