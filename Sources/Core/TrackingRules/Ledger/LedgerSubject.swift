package import WireFormat

/// What an event counts for in the ledger: product, platform, app and delivery. It holds no id of a
/// person.
package struct LedgerSubject: Hashable, Sendable {
    /// Platform and product (1 byte), the app's length (1), the app, the delivery's length (1), the
    /// delivery.
    package let bytes: [UInt8]

    /// The longest name of an app or delivery, in bytes; longer ones are cut.
    package static let nameBytes = 64

    /// A subject; longer names are cut.
    package init(platform: Platform?, product: Product, app: Bytes, delivery: Bytes) {
        let (app, delivery) = (app.cut(to: Self.nameBytes), delivery.cut(to: Self.nameBytes))
        var bytes: [UInt8] = []
        bytes.reserveCapacity(3 + app.count + delivery.count)
        bytes.append(Self.facts(platform, product))
        bytes.append(UInt8(truncatingIfNeeded: app.count))
        bytes.append(contentsOf: app)
        bytes.append(UInt8(truncatingIfNeeded: delivery.count))
        bytes.append(contentsOf: delivery)
        self.bytes = bytes
    }

    /// Whether it is the subject of these values, before they are cut.
    func matches(platform: Platform?, product: Product, app: Bytes, delivery: Bytes) -> Bool {
        var (app, delivery) = (app, delivery)
        if app.count > Self.nameBytes { app = app.cut(to: Self.nameBytes) }
        if delivery.count > Self.nameBytes { delivery = delivery.cut(to: Self.nameBytes) }
        return self.bytes.withUnsafeBytes { bytes in
            bytes.count == 3 &+ app.count &+ delivery.count
                && bytes[0] == Self.facts(platform, product) && Int(bytes[1]) == app.count
                && bytes.holds(app, at: 2) && bytes.holds(delivery, at: 3 &+ app.count)
        }
    }

    /// Platform and product as one byte.
    static func facts(_ platform: Platform?, _ product: Product) -> UInt8 {
        UInt8(truncatingIfNeeded: platform?.rawValue ?? 0) | product.rawValue << 2
    }

    /// The platform and the product of a subject's first byte.
    package static func facts(of byte: UInt8) -> (platform: Platform?, product: Product) {
        (Platform(number: Int32(byte & 3)), Product(rawValue: byte >> 2 & 3) ?? .standard)
    }
}
