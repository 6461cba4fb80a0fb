// Where deliveries run without a disk: a sink that blocks must not block the journal.
internal import CoreMetrics
internal import Delivery
internal import FileSinks
internal import Foundation
internal import Logging
internal import SinkKit
internal import SinkTestSupport
internal import Synchronization
internal import TestSupport
internal import Testing
internal import TrackingJournal
internal import TrackingRules

/// Ignores settlements.
private final class DeafReceiver: SettlementReceiver {
    func settled(_ requests: [AdmittedRequest]) {}
    func commitEnded() {}
}

/// Records whether it was called on its caller's preferred executor.
private final class PlacedSink: Sink {
    let name = "placed"
    let isPlaced = Atomic(false)

    func deliver(_ hits: HitBatch) async -> SinkAnswer {
        let isPlaced = withUnsafeCurrentTask { $0?.unownedTaskExecutor != nil }
        self.isPlaced.store(isPlaced, ordering: .relaxed)
        return .delivered
    }
}

struct BlockingSinkTests {
    private let directory: TemporaryDirectory

    init() throws { self.directory = try TemporaryDirectory() }

    /// A journal without a disk, and a forwarder from it.
    private func pair(_ sink: any Sink) throws -> (Journal, Forwarder) {
        var configuration = Journal.Configuration()
        configuration.mode = .off
        let journal = try Journal(
            directory: "", sinks: [JournalSink(sink.name)], configuration: configuration,
            onFailure: { _ in })
        let forwarder = Forwarder(
            from: journal, to: sink,
            deadLetters: try DeadLetters(path: self.directory.file("dead_letters.db")),
            metrics: SinkMetrics(
                deliveredHits: Counter(label: "delivered"), retries: Counter(label: "retries"),
                deadLetters: Counter(label: "dead"),
                missedHits: Counter(label: "missed"), deliveryDuration: Timer(label: "duration"),
                deliveryHits: Recorder(label: "hits")),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        return (journal, forwarder)
    }

    @Test(
        "while nobody reads standard output, a journal without a disk settles on",
        .timeLimit(.minutes(10)))
    func unreadPipe() async throws {
        let pipe = Pipe()
        let (journal, forwarder) = try self.pair(
            try StandardOutputSink(descriptor: pipe.fileHandleForWriting.fileDescriptor))
        // About three times the capacity of a pipe.
        let request = try TestHits.request((1...500).map { TestEvents.full(id: $0) })
        journal.append([request], for: DeafReceiver())
        let running = Task { try await forwarder.run() }
        // Once its first byte arrives, the sink is blocked in a write.
        #expect(await Self.read(pipe) { try $0.read(upToCount: 1) } == Data("{".utf8))
        await withTaskCancellationHandler {
            #expect(await journal.preview([]).isEmpty)
        } onCancel: {
            // On a timeout, the write fails and the test ends.
            try? pipe.fileHandleForReading.close()
        }
        journal.finish()
        var lines = 0
        while lines < 500, let data = await Self.read(pipe, { $0.availableData }) {
            lines += data.count { $0 == UInt8(ascii: "\n") }
        }
        #expect(lines == 500)
        try await running.value
        await journal.close()
    }

    @Test("without a disk a sink that does not block is called where the journal says")
    func placed() async throws {
        let sink = PlacedSink()
        let (journal, forwarder) = try self.pair(sink)
        journal.append([try TestHits.request([TestEvents.full(id: 1)])], for: DeafReceiver())
        #expect(await journal.preview([]).isEmpty)  // The group is there.
        journal.finish()
        try await forwarder.run()
        let isPlaced = sink.isPlaced.load(ordering: .relaxed)
        #expect(isPlaced)
        await journal.close()
    }

    /// Reads on a thread that may block; nil once there is no more.
    private static func read(
        _ pipe: Pipe, _ read: @escaping @Sendable (FileHandle) throws -> Data?
    ) async -> Data? {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                let data = try? read(pipe.fileHandleForReading)
                continuation.resume(returning: data?.isEmpty == false ? data : nil)
            }
        }
    }
}
