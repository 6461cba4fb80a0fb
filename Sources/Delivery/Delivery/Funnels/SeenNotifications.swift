internal import TrackingRules
internal import WireFormat

/// Tells a notification's first click and open from further ones, as each of its buttons is a hit
/// of its own (D17) and the ratios are of notifications. It remembers as many notifications as it
/// has entries; one whose entry another took over counts again, so the counts are upper bounds.
struct SeenNotifications {
    /// An entry is a hash with the kinds in its lowest bits; 0 is free.
    private var entries: [UInt64]

    /// The kinds for which a first hit counts.
    private static let kindBits: UInt64 = 0b11
    /// 512 KiB in total: the buttons of one notification are chosen within minutes.
    private static let standardEntries = 1 << 16

    /// Creates an empty memory of 2^n entries.
    init(entries: Int = Self.standardEntries) {
        precondition(entries.nonzeroBitCount == 1, "not a power of two")
        self.entries = Array(repeating: 0, count: entries)
    }

    /// The kinds, of click and open, that a notification has for the first time.
    ///
    /// - Parameter delivery: a hash of its tenant and delivery.
    mutating func firsts(_ kinds: HitKinds, of broadlogID: Bytes, delivery: Int) -> HitKinds {
        let bits = UInt64(kinds.rawValue >> UInt16(HitKind.click.rawValue)) & Self.kindBits
        guard bits != 0 else { return [] }
        var hasher = Hasher()
        hasher.combine(delivery)
        hasher.combine(bytes: broadlogID)
        let hash = UInt64(truncatingIfNeeded: hasher.finalize())
        // The place is of the upper bits, as the kinds take the lowest.
        let place = Int(hash >> 8 & UInt64(self.entries.count &- 1))
        let entry = self.entries[place]
        let known = entry & ~Self.kindBits == hash & ~Self.kindBits ? entry & Self.kindBits : 0
        self.entries[place] = hash & ~Self.kindBits | known | bits
        return HitKinds(rawValue: UInt16(bits & ~known) << UInt16(HitKind.click.rawValue))
    }
}
