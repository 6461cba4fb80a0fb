package import WireFormat

/// A TrackAction parsed in place.
package struct TrackActionView {
    /// broadlogId.
    package var broadlogID = Bytes.none
    /// deliveryId.
    package var deliveryID = Bytes.none
    /// The action as a number of the proto enum.
    package var action: Int32 = 0
    /// The tracking flag; nil if absent.
    package var flag: Bytes?
    /// The product as a number of the proto enum.
    package var product: Int32 = 0

    mutating func merge(_ reader: consuming WireReader) throws(WireError) {
        typealias Field = FieldTag.TrackAction
        while let tag = try reader.nextTag() {
            switch tag {
            case Field.broadlogID: self.broadlogID = try reader.string()
            case Field.deliveryID: self.deliveryID = try reader.string()
            case Field.action: self.action = try reader.int32()
            case Field.acsDeliveryTracking: self.flag = try reader.string()
            case Field.product: self.product = try reader.int32()
            default: try reader.skip(tag, in: Field.wireTypes)
            }
        }
    }
}
