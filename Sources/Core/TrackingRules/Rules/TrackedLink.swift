internal import WireFormat

/// The ids in a tracked link of Campaign Standard, as in `…/r/?id=d1685a5,d57fd6,d57ff6`: a letter
/// and the digits of the broadlogId; the deliveryId; the link's own id.
struct TrackedLink {
    private let broadlogDigits: Bytes
    private let deliveryID: Bytes

    private static let path: StaticString = "/r/?id="

    /// Reads a link; nil if it is not a tracked one.
    init?(_ link: Bytes) {
        guard let start = Self.start(in: link) else { return nil }
        let ids = link[start...].prefix { $0 != UInt8(ascii: "&") && $0 != UInt8(ascii: "#") }
            .split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
        guard ids.count >= 2, ids[0].count >= 2 else { return nil }
        let (broadlog, delivery) = (Bytes(rebasing: ids[0].dropFirst()), Bytes(rebasing: ids[1]))
        guard broadlog.isStandardDeliveryID, delivery.isStandardDeliveryID else { return nil }
        self.broadlogDigits = broadlog
        self.deliveryID = delivery
    }

    /// Whether its ids differ from those of the payload.
    func contradicts(deliveryID: Bytes, messageID: Bytes) -> Bool {
        !self.deliveryID.equalsIgnoringCase(deliveryID)
            || !self.broadlogDigits.equalsIgnoringCase(Bytes(rebasing: messageID.dropFirst()))
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
