package import WireFormat

/// The ids in a tracked link of Campaign Standard, as in `…/r/?id=d1685a5,d57fd6,d57ff6`: a letter
/// and the digits of the broadlogId; the deliveryId; the link's own id.
package struct TrackedLink {
    private let link: Bytes
    /// Where the digits of the broadlogId are.
    private let recipient: Range<Int>
    private let deliveryID: Bytes
    /// The link's own id; empty without one.
    private let ownID: Bytes

    private static let path: StaticString = "/r/?id="

    /// Reads a link; nil if it is not a tracked one.
    package init?(_ link: Bytes) {
        guard let start = Self.start(in: link) else { return nil }
        let ids = link[start...].prefix { $0 != UInt8(ascii: "&") && $0 != UInt8(ascii: "#") }
            .split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
        guard ids.count >= 2, ids[0].count >= 2 else { return nil }
        let (broadlog, delivery) = (Bytes(rebasing: ids[0].dropFirst()), Bytes(rebasing: ids[1]))
        guard broadlog.isStandardDeliveryID, delivery.isStandardDeliveryID else { return nil }
        let own = ids.count > 2 ? Bytes(rebasing: ids[2]) : .none
        self.link = link
        self.recipient = ids[0].startIndex + 1..<ids[0].endIndex
        self.deliveryID = delivery
        self.ownID = own.isStandardDeliveryID ? own : .none
    }

    /// What tells the links of a delivery apart, the same for all of its recipients: the letter,
    /// `d` of a deeplink or `s` of a sound, and the link's own id, as `d:d57ff6`; empty without
    /// one.
    package var id: String {
        guard !self.ownID.isEmpty else { return "" }
        let start = self.recipient.lowerBound
        return Bytes(rebasing: self.link[start - 1..<start]).text + ":" + self.ownID.text
    }

    /// The link with `*` for the recipient's digits, so that it is the same for all of them.
    package var withoutRecipient: String {
        let before = Bytes(rebasing: self.link[..<self.recipient.lowerBound])
        let after = Bytes(rebasing: self.link[self.recipient.upperBound...])
        return before.text + "*" + after.text
    }

    /// Whether its ids differ from those of the payload.
    func contradicts(deliveryID: Bytes, messageID: Bytes) -> Bool {
        !self.deliveryID.equalsIgnoringCase(deliveryID)
            || !Bytes(rebasing: self.link[self.recipient])
                .equalsIgnoringCase(Bytes(rebasing: messageID.dropFirst()))
    }

    /// The offset of the first id.
    private static func start(in link: Bytes) -> Int? {
        let length = Self.path.utf8CodeUnitCount
        guard link.count > length else { return nil }
        for start in 0..<link.count - length where link[start] == UInt8(ascii: "/") {
            if Bytes(rebasing: link[start..<start + length]).equals(Self.path) {
                return start + length
            }
        }
        return nil
    }
}

extension UnsafeRawBufferPointer {
    /// Whether the bytes equal others, ignoring the case of ASCII letters.
    fileprivate func equalsIgnoringCase(_ other: Bytes) -> Bool {
        self.count == other.count
            && zip(self, other).allSatisfy { $0 == $1 || ($0 | 0x20 == $1 | 0x20 && $0 > 0x40) }
    }
}
