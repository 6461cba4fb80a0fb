// Which request is sent next: a decision without a clock or a connection.

/// The order of one attempt. A notification's requests are sent one after the other, each after the
/// answer to the one before; those of different notifications side by side, earlier ones first.
/// A server with as many failures as may be in flight is left alone until the next attempt.
struct PostbackSchedule {
    private let requests: [PostbackRequest]
    private let maxFailures: Int
    /// May be sent now; the earliest is the last.
    private var ready: [Int] = []
    /// The next request of the same notification.
    private var successors: [Int?]
    private var failures: [PostbackServer: Int] = [:]

    /// A schedule of what has no answer yet.
    ///
    /// - Parameters:
    ///   - held: servers that are asked nothing this time.
    ///   - maxFailures: how many requests to one server may fail.
    init(_ batch: PostbackBatch, held: Set<PostbackServer>, maxFailures: Int) {
        self.requests = batch.requests
        self.maxFailures = maxFailures
        self.successors = batch.requests.map { _ in nil }
        var last: [PostbackRequest.Notification: Int] = [:]
        for (index, request) in batch.requests.enumerated() where !batch.isSettled[index] {
            if held.contains(request.server) { continue }
            if let earlier = last.updateValue(index, forKey: request.notification) {
                self.successors[earlier] = index
            } else {
                self.ready.append(index)
            }
        }
        self.ready.reverse()
    }

    /// The next request to send, by its index; nil if none may be sent now.
    mutating func next() -> Int? {
        while let index = self.ready.popLast() {
            let failures = self.failures[self.requests[index].server] ?? 0
            if failures < self.maxFailures { return index }
        }
        return nil
    }

    /// Notes an answer that stands: the notification's next request may be sent.
    mutating func settle(_ index: Int) {
        guard let successor = self.successors[index] else { return }
        let place = self.ready.lastIndex { $0 > successor }
        self.ready.insert(successor, at: place.map { $0 + 1 } ?? 0)
    }

    /// Notes a failure: the notification's later requests wait for the next attempt.
    mutating func fail(_ index: Int) { self.failures[self.requests[index].server, default: 0] += 1 }

    /// Asks a server nothing more in this attempt.
    mutating func hold(_ server: PostbackServer) { self.failures[server] = self.maxFailures }
}
