// Short words for what most tests do with a journal.
internal import Dispatch
internal import Synchronization
internal import TrackingCore
@testable internal import TrackingJournal

/// Told of one request.
final class WaitingReceiver: SettlementReceiver {
    private let continuation: CheckedContinuation<AdmittedRequest, Never>

    init(_ continuation: CheckedContinuation<AdmittedRequest, Never>) {
        self.continuation = continuation
    }

    // A second call would trap: continuations are resumed once.
    func settled(_ requests: [AdmittedRequest]) {
        for request in requests { self.continuation.resume(returning: request) }
    }
    func commitEnded() {}
}

/// Notes everything it is told, in order.
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
    /// A journal for tests: small, and a failing disk fails the test through its verdicts.
    static func open(
        _ directory: TemporaryDirectory, folder: String = "journal", sinks: [String] = ["a"],
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
    func commit(_ events: [UInt8]...) async -> [Verdict] {
        await self.commit(TestRequests.request(events)).verdicts
    }

    /// Waits until the journal's queue has done all that it was given before: twice, since a turn
    /// that is ending now may get in line again behind the first. A checkpoint holds it by then.
    func settle() async {
        for _ in 1...2 { _ = await self.preview([]) }
        await self.checkpointer?.finish()
    }

    /// Sequences of all batches that can be had after `sequence`, once `finish()` has been called.
    func sequences(after sequence: Int64 = 0) async throws -> [Int64] {
        var sequences: [Int64] = []
        while let batch = try await self.batch(after: sequences.last ?? sequence) {
            sequences.append(batch.sequence)
        }
        return sequences
    }
}

/// Holds the journal's queue until it is opened.
final class Gate: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func open() { self.semaphore.signal() }
    func wait() { self.semaphore.wait() }
}

extension Journal {
    /// Appends requests while the journal's queue is held, so that they make one group, and waits
    /// until they are settled.
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
    /// A journal of short files, which makes none before it needs them.
    static func test(segmentBytes: Int = 16 << 20) -> Self {
        var configuration = Self()
        configuration.windowCapacity = 1000
        configuration.segmentBytes = segmentBytes
        configuration.preparedSegments = 0
        return configuration
    }
}
