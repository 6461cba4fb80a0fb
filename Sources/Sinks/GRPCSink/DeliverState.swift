internal import SightlineProtos
internal import SwiftProtobuf
internal import TrackingRules
internal import WireFormat

/// What has been said on a stream so far. Each message is judged here; nothing waits here.
package struct DeliverState {
    private let limits: Limits
    private let journal: String
    /// What the backend chose, once it has answered Hello.
    private(set) var welcome: Welcome?
    /// Everything up to it is durable or refused; nil if there is nothing.
    private(set) var durable: HitPosition?
    /// Refused hits since they were taken.
    private(set) var refused: [Refused] = []
    /// What is sent and not acknowledged yet.
    private(set) var inFlight: [Sent] = []
    private(set) var hitsInFlight = 0
    private(set) var bytesInFlight = 0
    /// When the last ack came, or the first message in flight was sent.
    private(set) var progress = ContinuousClock.now
    /// How long the last ack took, from the newest message that it covers.
    private(set) var ackDelay: Duration?
    /// Whether an Erase waits for its Erased.
    private(set) var isErasing = false
    /// The answer to an Erase, until it is taken.
    private var erased: Erased?
    /// Until when nothing is sent.
    private(set) var busyUntil: ContinuousClock.Instant?
    /// Why the backend lost hits, if it says so.
    private(set) var loss: String?
    /// Why the backend will end the stream, if it says so.
    private(set) var drain: String?

    /// The sink's own limits.
    struct Limits {
        var hits: Int
        var bytes: Int
        var messageBytes: Int
        var busy: Duration
    }

    /// The backend's answer to Hello.
    package struct Welcome {
        let limits: Limits
        let mayRefuse: Bool
        /// Whether the backend can forget a recipient.
        package let mayErase: Bool
    }

    /// What a backend did to forget a recipient.
    package struct Erased: Equatable {
        /// The hits that were deleted, or whose id was overwritten.
        package let count: Int
        /// The second since 1970 by which earlier versions with the id are removed; nil if there
        /// are none.
        package let retainedUntil: Int64?
        /// Why it failed, as the backend says; empty if it did not.
        package let failure: String
    }

    /// A hit that the backend rejects permanently.
    package struct Refused: Equatable {
        /// The sequence of the hit's group.
        package let sequence: Int64
        /// The hit's index in the group.
        package let index: Int
        /// Why, as the backend says.
        package let reason: String
    }

    /// A message in flight.
    struct Sent {
        let end: HitPosition
        let hits: Int
        let bytes: Int
        let time: ContinuousClock.Instant
    }

    /// The version of the protocol.
    package static let version: UInt32 = 1
    /// The longest text of a backend that is kept.
    private static let maxTextScalars = 200

    init(journal: String, limits: Limits) {
        self.journal = journal
        self.limits = limits
    }

    /// Takes a message of the backend.
    ///
    /// - Throws: `BackendFailure` if it breaks the protocol.
    mutating func take(
        _ response: Sightline_V1_DeliverResponse, at now: ContinuousClock.Instant
    ) throws(BackendFailure) {
        switch response.message {
        case .welcome(let welcome):
            guard self.welcome == nil else { throw BackendFailure("a second Welcome came") }
            try self.take(welcome)
        case .ack(let ack):
            guard let welcome else { throw BackendFailure("an Ack came before Welcome") }
            try self.take(ack, welcome, now)
        case .busy(let busy):
            let delay = Duration.seconds(busy.delay.seconds) + .nanoseconds(busy.delay.nanos)
            self.busyUntil = now + min(max(.zero, delay), self.limits.busy)
        case .lost(let lost): self.loss = Self.text(lost.reason, "it does not say why")
        case .drain(let drain): self.drain = Self.text(drain.reason, "it does not say why")
        case .erased(let erased):
            guard self.isErasing else {
                throw BackendFailure("an Erased came, and no Erase waits for it")
            }
            self.erased = try Self.erased(erased)
            self.isErasing = false
        case nil: throw BackendFailure("a message came that this version cannot read")
        }
    }

    /// Notes that a message is sent.
    mutating func send(_ message: RecordBatchMessage, at now: ContinuousClock.Instant) {
        if self.inFlight.isEmpty { self.progress = now }
        self.inFlight.append(
            Sent(end: message.end, hits: message.hits, bytes: message.bytes.count, time: now))
        self.hitsInFlight += message.hits
        self.bytesInFlight += message.bytes.count
    }

    /// Whether a message may be sent now.
    func hasRoom(for message: RecordBatchMessage, at now: ContinuousClock.Instant) -> Bool {
        !self.isBusy(at: now) && !self.isErasing && self.fits(message)
    }

    /// Whether a message fits into the window. One that is larger than the window is sent alone.
    func fits(_ message: RecordBatchMessage) -> Bool {
        guard let limits = self.welcome?.limits else { return false }
        return self.inFlight.isEmpty
            || (self.hitsInFlight + message.hits <= limits.hits
                && self.bytesInFlight + message.bytes.count <= limits.bytes)
    }

    private func isBusy(at now: ContinuousClock.Instant) -> Bool {
        self.busyUntil.map { now < $0 } ?? false
    }

    /// Whether nothing that was sent waits for an answer.
    var isSettled: Bool { self.inFlight.isEmpty && !self.isErasing }

    /// Notes that an Erase is sent, if it may be: everything is settled, and the backend not busy.
    mutating func beginErasing(at now: ContinuousClock.Instant) -> Bool {
        guard self.isSettled, !self.isBusy(at: now) else { return false }
        (self.isErasing, self.erased, self.progress) = (true, nil, now)
        return true
    }

    /// The answer to the last Erase, once it has come.
    mutating func takeErased() -> Erased? {
        defer { self.erased = nil }
        return self.erased
    }

    /// The refusals that have come of groups up to a sequence; each is taken once. Welcome may tell
    /// of later groups, which come with another batch.
    mutating func takeRefused(through sequence: Int64) -> [Refused] {
        defer { self.refused.removeAll { $0.sequence <= sequence } }
        return self.refused.filter { $0.sequence <= sequence }
    }

    /// Drops the position of Welcome and its refusals: the journal does not have them so.
    mutating func forgetProgress() { (self.durable, self.refused) = (nil, []) }

    private mutating func take(_ welcome: Sightline_V1_Welcome) throws(BackendFailure) {
        guard welcome.version == Self.version else {
            throw BackendFailure(
                "its Welcome has the version \(welcome.version), and Hello offered "
                    + "\(Self.version) alone")
        }
        guard welcome.journalID == self.journal else {
            throw BackendFailure(
                "its Welcome is of another journal, and Hello was of \(self.journal)",
                quote: "of \"\(Self.text(welcome.journalID, ""))\"")
        }
        switch welcome.progress {
        case .nothing: break
        case .durable(let position):
            guard let position = HitPosition(position) else {
                throw BackendFailure("its Welcome has a position without a sequence")
            }
            self.durable = position
        case nil:
            throw BackendFailure("its Welcome says neither `durable` nor `nothing`")
        }
        let mayRefuse = welcome.capabilities.contains(.refusals)
        try self.take(welcome.refused, mayRefuse: mayRefuse, after: nil, upTo: self.durable)
        var limits = self.limits
        let own = welcome.limits
        let least = GRPCConfiguration.leastMessageBytes
        guard own.maxMessageBytes == 0 || own.maxMessageBytes >= least else {
            throw BackendFailure(
                "its Welcome has the max_message_bytes \(own.maxMessageBytes), and \(least) is the "
                    + "least; 0 for none")
        }
        limits.hits = Self.lower(limits.hits, Int(own.maxUnacknowledgedHits))
        limits.bytes = Self.lower(limits.bytes, Int(clamping: own.maxUnacknowledgedBytes))
        limits.messageBytes = Self.lower(limits.messageBytes, Int(own.maxMessageBytes))
        self.welcome = Welcome(
            limits: limits, mayRefuse: mayRefuse,
            mayErase: welcome.capabilities.contains(.erasure))
    }

    /// 0 is no limit.
    private static func lower(_ own: Int, _ other: Int) -> Int {
        other == 0 ? own : min(own, other)
    }

    private mutating func take(
        _ ack: Sightline_V1_Ack, _ welcome: Welcome, _ now: ContinuousClock.Instant
    ) throws(BackendFailure) {
        guard ack.hasDurable, let position = HitPosition(ack.durable) else {
            throw BackendFailure("an Ack came without a position")
        }
        guard let last = self.inFlight.firstIndex(where: { $0.end == position }) else {
            throw BackendFailure(
                "it acknowledged \(position), which is no end of a batch that waits for its ack")
        }
        try self.take(
            ack.refused, mayRefuse: welcome.mayRefuse, after: self.durable, upTo: position)
        for sent in self.inFlight[...last] {
            self.hitsInFlight -= sent.hits
            self.bytesInFlight -= sent.bytes
        }
        self.ackDelay = self.inFlight[last].time.duration(to: now)
        self.inFlight.removeSubrange(...last)
        self.durable = position
        self.progress = now
    }

    private mutating func take(
        _ refusals: [Sightline_V1_Refusal], mayRefuse: Bool, after first: HitPosition?,
        upTo last: HitPosition?
    ) throws(BackendFailure) {
        if refusals.isEmpty { return }
        guard mayRefuse else {
            throw BackendFailure("it refused hits, and its Welcome had no SINK_CAPABILITY_REFUSALS")
        }
        for refusal in refusals {
            let position = HitPosition(
                sequence: Int64(clamping: refusal.sequence), index: Int(refusal.index), check: 0)
            guard let last, position <= last, first.map({ $0 < position }) ?? true else {
                throw BackendFailure(
                    "it refused the hit \(position), which is not one of those that it settled")
            }
            let code = Self.text(refusal.code, "no code")
            let reason = Self.text(refusal.reason, "")
            self.refused.append(
                Refused(
                    sequence: position.sequence, index: position.index,
                    reason: "the backend refused it: \(code)"
                        + (reason.isEmpty ? "" : ": \(reason)")))
        }
    }

    /// The seconds of the years 1 to 9999, which a Timestamp may have.
    private static let timestampSeconds = Int64(-62_135_596_800)...253_402_300_799

    private static func erased(
        _ erased: Sightline_V1_Erased
    ) throws(BackendFailure) -> Erased {
        let end = erased.retainedUntil
        guard Self.timestampSeconds.contains(end.seconds), 0..<1_000_000_000 ~= end.nanos else {
            throw BackendFailure(
                "its Erased has the retained_until \(end.seconds) s and \(end.nanos) ns, which is "
                    + "no time of the years 1 to 9999")
        }
        return Erased(
            count: Int(clamping: erased.erasedCount),
            // A second that has begun is waited for.
            retainedUntil: erased.hasRetainedUntil ? end.seconds + (end.nanos > 0 ? 1 : 0) : nil,
            failure: erased.failure.isEmpty ? "" : Self.text(erased.failure, ""))
    }

    private static func text(_ text: String, _ standard: String) -> String {
        text.isEmpty ? standard : text.cut(toScalars: Self.maxTextScalars)
    }
}
