package import WireFormat

/// A PushSend parsed in place.
package struct PushSendView {
    /// broadlogId.
    package var broadlogID = Bytes.none
    /// deliveryId.
    package var deliveryID = Bytes.none
    /// The product as a number of the proto enum.
    package var product: Int32 = 0
    /// The outcome as a number of the proto enum.
    package var outcome: Int32 = 0
    /// The reason as a number of the proto enum.
    package var reason: Int32 = 0
    /// The push service's own word for the reason.
    package var providerCode = Bytes.none
    /// The push service's id of the message.
    package var providerMessageID = Bytes.none
    /// The number of the attempt.
    package var attempt: Int32 = 0
    /// Who shows the notification, as a number of the proto enum.
    package var display: Int32 = 0

    mutating func merge(_ reader: consuming WireReader) throws(WireError) {
        typealias Field = FieldTag.PushSend
        while let tag = try reader.nextTag() {
            switch tag {
            case Field.deliveryID: self.deliveryID = try reader.string()
            case Field.broadlogID: self.broadlogID = try reader.string()
            case Field.product: self.product = try reader.int32()
            case Field.outcome: self.outcome = try reader.int32()
            case Field.reason: self.reason = try reader.int32()
            case Field.providerCode: self.providerCode = try reader.string()
            case Field.providerMessageID: self.providerMessageID = try reader.string()
            case Field.attempt: self.attempt = try reader.int32()
            case Field.display: self.display = try reader.int32()
            default: try reader.skip(tag, in: Field.wireTypes)
            }
        }
    }
}
