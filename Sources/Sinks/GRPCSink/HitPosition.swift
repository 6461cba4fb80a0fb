internal import CCRC32C
internal import SightlineProtos
internal import SinkKit
internal import TrackingRules
internal import WireFormat

/// Where a hit stands in a journal. Positions are ordered by sequence, then by index.
package struct HitPosition: Hashable, Comparable, CustomStringConvertible {
    /// The sequence of the hit's group.
    package var sequence: Int64
    /// The hit's index among those of the group that the sink gets.
    package var index: Int
    /// A CRC-32C of the ids of the group's hits up to this one: another one means another group.
    package var check: UInt32

    /// The position of a hit.
    package init(sequence: Int64, index: Int, check: UInt32) {
        self.sequence = sequence
        self.index = index
        self.check = check
    }

    /// By sequence, then by index.
    package static func < (left: Self, right: Self) -> Bool {
        (left.sequence, left.index) < (right.sequence, right.index)
    }

    /// Such as "12/3": sequence and index.
    package var description: String { "\(self.sequence)/\(self.index)" }
}

extension HitPosition {
    /// A position as a backend returned it; nil if it has no sequence.
    init?(_ position: Sightline_V1_Position) {
        guard position.sequence > 0 else { return nil }
        // One that no journal can have stays beyond the newest group of any.
        self.init(
            sequence: Int64(clamping: position.sequence), index: Int(position.index),
            check: position.check)
    }

    /// Continues the check of a group with its next hit; 0 before the first.
    static func check(_ check: UInt32, _ hit: Hit) -> UInt32 {
        let id = (hit.key.high.bigEndian, (hit.key.low | UInt64(hit.kind.rawValue)).bigEndian)
        return withUnsafeBytes(of: id) { sightline_crc32c(check, $0.baseAddress, $0.count) }
    }
}

extension HitBatch {
    /// Whether a position is that of a hit in the batch: its group is here, and has the same hits
    /// up to it as when it was sent.
    ///
    /// - Throws: `DamagedPayload`.
    func has(_ position: HitPosition) throws -> Bool {
        guard let group = self.groups.first(where: { $0.sequence == position.sequence }) else {
            return false
        }
        return try self.payload.withUnsafeBytes { payload in
            var (index, check, found) = (0, UInt32(0), UInt32?.none)
            try HitEncoding.forEachHit(in: Bytes(rebasing: payload[group.bytes])) { hit in
                if index <= position.index { check = HitPosition.check(check, hit) }
                if index == position.index { found = check }
                index += 1
            }
            return found == position.check
        }
    }
}

/// The newest position of a journal that the backend has acknowledged: by it a loss is noticed.
struct BackendResumeToken: Equatable {
    let journal: String
    let position: HitPosition

    init(journal: String, position: HitPosition) {
        self.journal = journal
        self.position = position
    }

    /// The form that the journal stores: its id, sequence, index and check, with spaces between.
    var text: String {
        "\(self.journal) \(self.position.sequence) \(self.position.index) \(self.position.check)"
    }

    /// Parses a stored token; nil if the text is malformed.
    init?(_ text: String) {
        let words = text.split(separator: " ")
        guard words.count == 4, let sequence = Int64(words[1]), let index = Int(words[2]),
            let check = UInt32(words[3])
        else { return nil }
        self.journal = String(words[0])
        self.position = HitPosition(sequence: sequence, index: index, check: check)
    }
}
