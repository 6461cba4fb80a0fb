#if Kafka
// How far a batch has come. What brokers have is not sent again while the batch is tried again.
internal import CRdKafka
internal import SinkKit
internal import TrackingRules

/// A batch, and what is known of each of its hits. A class: its states are changed hit by hit.
final class KafkaDelivery {
    private enum State {
        /// Not handed to the library, or given back by it.
        case waiting
        /// Handed to the library, which has not reported it yet.
        case inFlight
        /// On the brokers, or refused for good.
        case settled
    }

    /// As it came with the last try.
    private(set) var hits: HitBatch
    /// Tells reports on this batch's hits from those on an earlier one's.
    private let number: UInt32
    private var states: [State]
    /// Hits that the library has not reported yet.
    private(set) var inFlightCount = 0
    /// Hits that brokers have, or that are refused.
    private(set) var settledCount = 0
    /// Reasons of hits that are refused for good, by position.
    private(set) var refused: [Int: String] = [:]
    /// Why some hit was given back, since the last try began.
    private(set) var failure: String?
    /// Whether the producer has to be replaced, since the last try began.
    private(set) var needsNewProducer = false
    /// Whether a hit needs one more topic than the producer may have, since the last try began.
    private(set) var lacksTopic = false
    /// Hits that brokers found too large together, since the last try began.
    private(set) var tooLargeCount = 0
    /// Whether a hit is too large alone.
    private(set) var hasLargeHit = false

    init(_ hits: HitBatch, number: UInt32) {
        self.hits = hits
        self.number = number
        self.states = Array(repeating: .waiting, count: hits.hitCount)
    }

    /// Goes on with a batch that is tried again; false if it is another one. The ids of its hits
    /// tell, and not its bytes: a subject that was forgotten since the last try is masked in this
    /// one, and what is left is sent so.
    ///
    /// - Throws: `DamagedPayload`.
    func resume(_ batch: HitBatch) throws -> Bool {
        let hasSameGroups = self.hits.groups.elementsEqual(batch.groups) { own, other in
            own.sequence == other.sequence && own.positions == other.positions
        }
        guard hasSameGroups, self.hits.journal == batch.journal,
            try Self.ids(of: self.hits) == Self.ids(of: batch)
        else { return false }
        self.hits = batch
        return true
    }

    /// The hits' ids, two numbers each.
    private static func ids(of hits: HitBatch) throws -> [UInt64] {
        var ids: [UInt64] = []
        ids.reserveCapacity(2 * hits.hitCount)
        try hits.forEach { _, hit in
            ids.append(hit.key.high)
            ids.append(hit.key.low | UInt64(hit.kind.rawValue))
        }
        return ids
    }

    var isSettled: Bool { self.settledCount == self.states.count }

    /// Whether the rest need not be sent before something else happens.
    var hasFailed: Bool {
        self.failure != nil || self.tooLargeCount > 0 || self.needsNewProducer
            || self.lacksTopic
    }

    /// Such as "12 of 40 hits are delivered".
    var progress: String { "\(self.settledCount) of \(self.states.count) hits are delivered" }

    /// Begins a try.
    func begin() {
        (self.failure, self.tooLargeCount, self.needsNewProducer) = (nil, 0, false)
        self.lacksTopic = false
    }

    /// The next hit needs a producer with room for its topic.
    func waitForTopic() { self.lacksTopic = true }

    func isWaiting(_ position: Int) -> Bool { self.states[position] == .waiting }

    /// What a hit's message bears, for its report.
    func tag(of position: Int) -> UInt { UInt(self.number) << 32 | UInt(position) }

    func send(_ position: Int) {
        self.states[position] = .inFlight
        self.inFlightCount += 1
    }

    func refuse(_ position: Int, _ reason: String) {
        self.states[position] = .settled
        self.settledCount += 1
        self.refused[position] = reason
    }

    func fail(_ reason: String) {
        if self.failure == nil { self.failure = reason }
    }

    /// Takes a report on a hit; one on another batch's hit changes nothing.
    ///
    /// - Parameter isSingle: whether the message was sent alone, so that it alone is too large.
    func take(_ report: KafkaProducer.Report, isSingle: Bool) {
        let position = Int(report.tag & 0xffff_ffff)
        guard report.tag >> 32 == UInt(self.number), self.states[position] == .inFlight else {
            return
        }
        self.inFlightCount -= 1
        if report.error == RD_KAFKA_RESP_ERR_NO_ERROR
            || report.status == RD_KAFKA_MSG_STATUS_PERSISTED
        {
            self.states[position] = .settled
            self.settledCount += 1
            return
        }
        let reason = "topic \(report.topic): \(report.error.text)"
        if report.error.isTooLarge, isSingle {
            self.hasLargeHit = true
            return self.refuse(position, reason)
        }
        self.states[position] = .waiting
        if report.error.isTooLarge {
            self.tooLargeCount += 1
        } else if report.error.isOfProducer {
            self.needsNewProducer = true
        } else {
            self.fail(reason + (report.error.advice.map { ": " + $0 } ?? ""))
        }
    }

    /// Gives back what a producer that has ended has not reported.
    func giveBack() {
        for position in self.states.indices where self.states[position] == .inFlight {
            self.states[position] = .waiting
        }
        self.inFlightCount = 0
    }
}
#endif
