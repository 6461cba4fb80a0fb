#if NATS
// The sink for more than one machine: hits go to a stream of NATS JetStream.
internal import CNats
internal import Dispatch
package import SinkKit
internal import Synchronization
package import TrackingRules

/// Publishes each hit as a message, many at once, and has delivered a batch when each of them
/// is acked. The stream drops a hit that it knows: a batch that comes again counts once, within
/// the stream's duplicate window.
///
/// A server acks before it syncs, and a stream can be deleted: on every connection, after every
/// failure and every few seconds the sink looks whether the last hit is still where it was
/// acked. `@unchecked Sendable`: all but the token is used on its queue alone.
package final class NATSSink: ResumableSink, ErasableSink, ProbeableSink, @unchecked Sendable {
    /// "nats".
    package let name = "nats"
    let configuration: NATSConfiguration
    let stream: NATSStream
    /// The interval between regular checks of the stream.
    private let lookInterval: Duration
    /// The library's calls may block: they have a thread of their own.
    let queue = DispatchQueue(label: "sightline.nats")
    private let keptToken = Mutex<NATSResumeToken?>(nil)

    private var messages: NATSMessages
    var connection: NATSConnection?
    /// When the stream was last looked at, and over which connection; nil where it has to be
    /// looked at before anything more is published.
    private var look: (time: ContinuousClock.Instant, reconnects: UInt64, created: Int64)?

    /// A sink that connects with its first batch.
    ///
    /// - Parameter lookInterval: how often the stream is checked; tests substitute it.
    package init(_ configuration: NATSConfiguration, lookInterval: Duration = .seconds(5)) {
        self.configuration = configuration
        self.lookInterval = lookInterval
        self.stream = NATSStream(configuration)
        self.messages = NATSMessages(prefix: configuration.subjectPrefix)
    }

    /// Several times what may be under way: at the end of a batch, nothing is under way until the
    /// last ack has come. After a failure all of it is published again, and the stream drops what
    /// it has.
    package var maxBatch: BatchLimit {
        BatchLimit(hits: 4 * self.configuration.maxInFlight, bytes: 4 << 20)
    }

    /// The stream and the last hit in it.
    package var resumeToken: String { self.keptToken.withLock { $0?.text ?? "" } }

    /// Goes on from there: the first batch finds out whether it still is.
    package func resume(at token: String) {
        self.keptToken.withLock { $0 = NATSResumeToken(token) }
    }

    /// Publishes a batch and waits for its acks.
    package func deliver(_ hits: HitBatch) async -> SinkAnswer {
        await withCheckedContinuation { continuation in
            self.queue.async { continuation.resume(returning: self.publish(hits)) }
        }
    }

    // MARK: On the queue

    /// Publishes a batch; on the queue.
    func publish(_ hits: HitBatch) -> SinkAnswer {
        do {
            let connection = try self.usableConnection()
            if let loss = try self.lookAtStream(connection) {
                self.keptToken.withLock { $0 = nil }
                return .dataLoss(reason: loss)
            }
            // Read it all first: nothing is published of a batch that becomes dead letters.
            try hits.forEachEvent { _, _ in }
            connection.acks.begin()
            let sent = Result { try self.send(hits, over: connection) }
            guard connection.acks.wait(downTo: 0, seconds: self.longestSilence) else {
                // The outcome is unknown: use a new connection for the next batch.
                self.connection = nil
                throw NATSError("no answer, not even a late one: connecting anew")
            }
            return try self.answer(to: hits, try sent.get(), connection.acks.answers)
        } catch {
            self.look = nil
            return SinkAnswer(failure: error)
        }
    }

    /// The library reports a hit as failed after `ackTimeout`; add a margin to that.
    private var longestSilence: Double {
        Double(self.configuration.ackTimeout.milliseconds) / 1000 + 5
    }

    func usableConnection() throws -> NATSConnection {
        if let connection = self.connection, !connection.isClosed {
            guard connection.isConnected else {
                throw NATSError("no server is there: \(connection.lastError)")
            }
            return connection
        }
        self.look = nil
        self.connection = nil
        let connection = try NATSConnection(self.configuration)
        self.connection = connection
        return connection
    }

    /// Checks the stream if a check is due, and makes it where it is missing; returns what it
    /// has lost.
    func lookAtStream(_ connection: NATSConnection) throws -> String? {
        let reconnects = connection.reconnects
        if let look, look.reconnects == reconnects,
            look.time.duration(to: .now) < self.lookInterval
        {
            return nil
        }
        let state = try self.stream.check(connection.jetStream)
        if var token = self.keptToken.withLock({ $0 }) {
            let loss = try token.loss(in: state) { sequence throws(NATSError) in
                try self.stream.hitID(at: sequence, connection.jetStream)
            }
            if let loss { return loss }
            (token.created, token.seen) = (state.created, token.newest)
            self.keptToken.withLock { [token] in $0 = token }
        }
        self.look = (.now, reconnects, state.created)
        return nil
    }

    /// Publishes every hit, up to the first failure. Returns those that the library refuses
    /// permanently.
    private func send(
        _ hits: HitBatch, over connection: NATSConnection
    ) throws -> [Int: String] {
        var refused: [Int: String] = [:]
        let acks = connection.acks
        let limit = self.configuration.maxInFlight
        var underWay = 0
        try hits.forEach { position, hit in
            if underWay >= limit {
                guard acks.wait(downTo: limit / 2, seconds: self.longestSilence) else {
                    throw NATSError("no answer")
                }
                underWay = limit / 2
            }
            if acks.hasFailed { return }
            let message = try self.messages.message(hit)
            let status = self.messages.withHitID { connection.publish(message, hitID: $0) }
            switch status {
            case NATS_OK: underWay += 1
            case NATS_MAX_PAYLOAD:
                refused[position] = NATSError("the server's max_payload", status).description
            default: acks.fail(NATSError("publishing", status).description)
            }
        }
        return refused
    }

    private func answer(
        to hits: HitBatch, _ refused: [Int: String], _ answers: AckWindow.Answers
    ) throws -> SinkAnswer {
        if let failure = answers.failure { throw NATSError(failure) }
        let token = self.keptToken.withLock { $0 }
        if let token, answers.lowestNew <= token.newest.sequence {
            // New hits have old places: the stream was cut or made anew under our feet.
            throw NATSError(
                "a hit came to \(answers.lowestNew), before \(token.newest.sequence)")
        }
        // What was fed again may lie before it: only the newest sequence tells of all.
        if let newest = answers.newest, newest.sequence > token?.newest.sequence ?? 0,
            let created = self.look?.created
        {
            self.keptToken.withLock {
                $0 = NATSResumeToken(created: created, newest: newest, seen: token?.seen)
            }
            // The first one is looked at with the next batch: later looks need one seen.
            if token == nil { self.look = nil }
        }
        var rejected = refused
        if !answers.refused.isEmpty {
            try hits.forEach { position, hit in
                rejected[position] =
                    answers.refused[MessageText(hitID: hit).text]
                    ?? rejected[position]
            }
        }
        return SinkAnswer(rejected: rejected)
    }
}
#endif
