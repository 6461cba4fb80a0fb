// Helpers for tests of the journal.
internal import Dispatch
internal import Foundation
@testable internal import Storage
internal import Synchronization
internal import TestSupport
@testable internal import TrackingJournal
internal import TrackingRules

/// Waits for a single request.
final class WaitingReceiver: SettlementReceiver {
    private let continuation: CheckedContinuation<AdmittedRequest, Never>

    init(_ continuation: CheckedContinuation<AdmittedRequest, Never>) {
        self.continuation = continuation
    }

    // A second call would trap: a continuation is resumed only once.
    func settled(_ requests: [AdmittedRequest]) {
        for request in requests { self.continuation.resume(returning: request) }
    }
    func commitEnded() {}
}

/// Records all calls in order.
final class RecordingReceiver: SettlementReceiver {
    enum Note: Equatable {
        case settled(UInt64)
        case ended
    }

    private let noted = Mutex<[Note]>([])

    var notes: [Note] { self.noted.withLock { $0 } }

    func settled(_ requests: [AdmittedRequest]) {
        self.noted.withLock { $0 += requests.map { .settled($0.sequence) } }
    }

    func commitEnded() { self.noted.withLock { $0.append(.ended) } }
}

extension Journal {
    /// Opens a small journal; a disk failure fails the test through its verdicts.
    static func open(
        _ directory: TemporaryDirectory, folder: String = "journal",
        sinks: [JournalSink] = [JournalSink("a")],
        _ change: (inout Configuration) -> Void = { _ in }
    ) throws -> Journal {
        var configuration = Configuration.test()
        change(&configuration)
        return try Journal(
            directory: directory.path + "/" + folder, sinks: sinks, configuration: configuration,
            onFailure: { _ in })
    }

    /// Nil where nothing is written.
    var checkpointer: Checkpointer? { (self.durability as? DiskDurability)?.checkpointer }

    /// Appends a request and waits until it is settled.
    @discardableResult
    func commit(_ request: AdmittedRequest) async -> AdmittedRequest {
        await withCheckedContinuation { self.append([request], for: WaitingReceiver($0)) }
    }

    /// Appends events as one request, and gives their verdicts.
    @discardableResult
    func commit(_ events: TestEvent...) async -> [Verdict] {
        await self.commit(AdmittedRequest.of(events)).verdicts
    }

    /// Waits until the journal's queue has finished earlier work, including its checkpoint. Twice,
    /// since a turn that is ending may enqueue another one.
    func settle() async {
        for _ in 1...2 { _ = await self.preview([]) }
        await self.checkpointer?.finish()
    }

    /// The first batch after `sequence`; waits for it. Nil at the end.
    func batch(after sequence: Int64) async throws -> JournalBatch? {
        try await self.batches(after: sequence, upTo: .oneGroup)?.first
    }

    /// The sequences of all batches after `sequence`; call `finish()` before.
    func sequences(after sequence: Int64 = 0) async throws -> [Int64] {
        var sequences: [Int64] = []
        while let batch = try await self.batch(after: sequences.last ?? sequence) {
            sequences.append(batch.sequence)
        }
        return sequences
    }
}

extension JournalWriter {
    /// The first batch after `sequence` on disk; nil where there is none.
    func batch(after sequence: Int64) throws -> JournalBatch? {
        try self.batches(after: sequence, through: .max, upTo: .oneGroup).first
    }
}

/// Blocks the journal's queue until it is opened.
final class Gate: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func open() { self.semaphore.signal() }
    func wait() { self.semaphore.wait() }
}

extension Journal {
    /// Appends requests while the journal's queue is blocked, so that they form one group, and
    /// waits until they are settled.
    func appendTogether(
        _ requests: [AdmittedRequest], for receiver: any SettlementReceiver
    ) async {
        let gate = Gate()
        self.queue.async { gate.wait() }
        for request in requests { self.append([request], for: receiver) }
        gate.open()
        await self.settle()
    }
}

extension Journal.Configuration {
    /// A configuration with short segments and no preallocation.
    static func test(segmentBytes: Int = 16 << 20) -> Self {
        var configuration = Self()
        configuration.windowCapacity = 1000
        configuration.segmentBytes = segmentBytes
        configuration.preparedSegments = 0
        return configuration
    }
}

extension TemporaryDirectory {
    /// A copy of a journal's folder as a crash leaves it: what the checkpoint has not yet is in the
    /// log alone.
    func copyAfterCrash(of folder: String) throws -> String {
        let copy = folder + "-copy"
        try FileManager.default.copyItem(
            atPath: self.path + "/" + folder, toPath: self.path + "/" + copy)
        return copy
    }
}

extension CheckpointStore {
    /// The checkpoint in a copy made while the journal is open.
    static func contents(
        copiedFrom directory: TemporaryDirectory
    ) throws -> Contents {
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(
                at: directory.journalFile("checkpoint.db" + suffix),
                to: directory.journalFile("copy.db" + suffix))
        }
        let store = try CheckpointStore(
            path: directory.journalFile("copy.db").path, queue: DispatchWorkQueue("copy"))
        defer { store.close() }
        return try store.contents(restoring: DeduplicationWindow(capacity: 10))
    }
}
