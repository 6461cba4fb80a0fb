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
        while let tag = try reader.nextTag() {
            switch tag {
            case 1 << 3 | 2: self.broadlogID = try reader.string()
            case 2 << 3 | 2: self.deliveryID = try reader.string()
            case 3 << 3 | 0: self.action = try reader.int32()
            case 4 << 3 | 2: self.flag = try reader.string()
            case 5 << 3 | 0: self.product = try reader.int32()
            default: try reader.skip(tag)
            }
        }
    }
}
