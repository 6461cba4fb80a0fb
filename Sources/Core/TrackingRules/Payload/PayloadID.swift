package import WireFormat

/// The ids that tracking needs.
package enum PayloadID: String, CaseIterable {
    case delivery = "_dId"
    case message = "_mId"

    /// The id's meaning, with an example.
    package var meaning: String {
        switch self {
        case .delivery: "the deliveryId, hex such as 56c4"
        case .message: "the broadlogId, `h` and hex such as h138a"
        }
    }

    /// Whether Campaign Standard could have made this id.
    package func isStandard(_ id: Bytes) -> Bool {
        switch self {
        case .delivery: id.isStandardDeliveryID
        case .message: id.isStandardBroadlogID
        }
    }
}
