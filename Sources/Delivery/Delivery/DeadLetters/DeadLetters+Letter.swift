internal import Foundation
internal import SinkKit
internal import TrackingJournal
internal import TrackingRules
internal import WireFormat

extension DeadLetters {
    /// A row to be inserted.
    struct Letter: Sendable {
        /// The sequence of its group.
        let sequence: Int64
        /// Its position in the group.
        let position: Int
        let hitID: Data?
        let reason: String
        let tenant: String?
        let record: Data
    }
}

extension DeadLetters.Letter {
    /// The position of bytes that are not a hit.
    private static let noPosition = -1

    /// A readable hit, which can be replayed.
    init(_ hit: Hit, in sequence: Int64, position: Int, reason: String) {
        self.init(
            sequence: sequence, position: position, hitID: Data(hit.id), reason: reason,
            tenant: hit.request.tenant.text, record: Data(hit.recordBytes()))
    }

    /// The remainder of a group whose readable hits became letters of their own.
    init(unreadable rest: [UInt8], in sequence: Int64, reason: String) {
        self.init(
            sequence: sequence, position: Self.noPosition, hitID: nil,
            reason: "unreadable: \(rest.count) bytes of the batch: \(reason)", tenant: nil,
            record: Data(rest))
    }

    /// A whole batch whose checksum is wrong, or what has gone before the sink had it.
    init(damaged batch: JournalBatch) {
        self.init(
            sequence: batch.sequence, position: Self.noPosition, hitID: nil,
            reason: (batch.loss?.cause == .release ? "missed: " : "damaged: ")
                + Self.loss(of: batch),
            tenant: nil, record: Data(batch.payload))
    }

    /// The sequences that a damaged batch stands for, as text.
    private static func loss(of batch: JournalBatch) -> String {
        let sequences = batch.loss?.sequences ?? batch.sequence...batch.sequence
        let range =
            sequences.count == 1
            ? "sequence \(sequences.lowerBound)"
            : "sequences \(sequences.lowerBound) to \(sequences.upperBound)"
        let count = batch.loss?.eventCount.map { "\($0)" } ?? "an unknown number of"
        let hits = batch.loss?.hitCount.map { ", \($0) hits" } ?? ""
        return "\(range) of the journal, \(count) events\(hits)"
    }
}
