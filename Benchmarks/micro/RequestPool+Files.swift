// What writes files: the journal's commit, and the sinks.
internal import Dispatch
internal import FileSinks
internal import Glibc
internal import SQLiteSink
internal import SinkKit
internal import TrackingJournal
internal import TrackingRules

extension RequestPool {
    /// Appends each request once the one before it is on disk: a group of one request each. One
    /// checkpoint at the end: how many there were would depend on the time.
    func append(_ iterations: Int, in directory: String) throws -> Int {
        var configuration = Journal.Configuration()
        configuration.checkpointMilliseconds = 3_600_000
        let journal = try Journal(
            directory: directory + "/journal", sinks: [JournalSink("sink")],
            configuration: configuration
        ) { error in
            preconditionFailure("the journal's disk failed: \(error)")
        }
        let receiver = Waiting()
        for request in self.requests[..<iterations] {
            journal.append([request], for: receiver)
            receiver.semaphore.wait()
        }
        Self.wait { await journal.close() }
        return journal.storedBytes
    }

    /// Inserts a batch for each request.
    func insert(_ iterations: Int, in directory: String) throws -> Int {
        self.deliver(iterations, to: try SQLiteSink(path: directory + "/hits.db"))
    }

    /// Writes a batch for each request as lines of JSON. The kernel drops them, so that their
    /// encoding is what is counted.
    func writeLines(_ iterations: Int) throws -> Int {
        let descriptor = open("/dev/null", O_WRONLY)
        precondition(descriptor >= 0, "/dev/null cannot be opened: errno \(errno)")
        defer { close(descriptor) }
        return self.deliver(iterations, to: try StandardOutputSink(descriptor: descriptor))
    }

    private func deliver(_ iterations: Int, to sink: any Sink) -> Int {
        let batches = self.requests.enumerated().map { index, request in
            HitBatch(
                journal: "microbench", sequence: Int64(index + 1),
                payload: request.block)
        }
        Self.wait {
            for batch in batches[..<iterations] {
                let delivery = await sink.deliver(batch)
                precondition(delivery == .delivered, "the sink failed: \(delivery)")
            }
        }
        return iterations
    }

    /// Runs a task, and returns when it is done.
    private static func wait(_ body: @escaping @Sendable () async -> Void) {
        let semaphore = DispatchSemaphore(value: 0)
        Task {
            await body()
            semaphore.signal()
        }
        semaphore.wait()
    }
}

/// Told once a request is on disk.
private final class Waiting: SettlementReceiver {
    let semaphore = DispatchSemaphore(value: 0)

    func settled(_ requests: [AdmittedRequest]) {
        precondition(requests.allSatisfy { !$0.isToRetry }, "the journal refused the request")
    }

    func commitEnded() { self.semaphore.signal() }
}
