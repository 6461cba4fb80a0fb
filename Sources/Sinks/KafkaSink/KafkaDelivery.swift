#if Kafka
// How far a batch has come. What brokers have is not sent again while the batch is tried again.
internal import CRdKafka
internal import SinkKit

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

    let hits: HitBatch
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

    init(_ hits: HitBatch, number: UInt32) {
        self.hits = hits
        self.number = number
        self.states = Array(repeating: .waiting, count: hits.hitCount)
    }

    /// Whether a batch is this one, tried again.
    func isSame(as other: HitBatch) -> Bool {
        self.hits.journal == other.journal && self.hits.groups == other.groups
            && self.hits.payload == other.payload
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
        if report.error.isTooLarge, isSingle { return self.refuse(position, reason) }
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
