package import WireFormat

/// What an event counts for in the ledger: product, platform, app and delivery, and with some the
/// app's version and a mark of a sender's fact. It holds no id of a person.
package struct LedgerSubject: Hashable, Sendable {
    /// Platform and product (1 byte), the app's length (1), the app, the delivery's length (1), the
    /// delivery. Behind it the mark (1) and the version, if there is either.
    package let bytes: [UInt8]

    /// The longest name of an app or delivery, in bytes; longer ones are cut.
    package static let nameBytes = 64

    /// A subject; longer names and versions are cut.
    package init(
        platform: Platform?, product: Product, app: Bytes, delivery: Bytes,
        version: Bytes = .none, mark: SendMark = .none
    ) {
        let (app, delivery) = (app.cut(to: Self.nameBytes), delivery.cut(to: Self.nameBytes))
        let version = version.cut(to: Limits.versionBytes)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(4 + app.count + delivery.count + version.count)
        bytes.append(Self.facts(platform, product))
        bytes.append(UInt8(truncatingIfNeeded: app.count))
        bytes.append(contentsOf: app)
        bytes.append(UInt8(truncatingIfNeeded: delivery.count))
        bytes.append(contentsOf: delivery)
        if version.count > 0 || mark != .none {
            bytes.append(mark.rawValue)
            bytes.append(contentsOf: version)
        }
        self.bytes = bytes
    }

    /// Whether it is the subject of these values, before they are cut.
    func matches(
        platform: Platform?, product: Product, app: Bytes, delivery: Bytes, version: Bytes,
        mark: SendMark
    ) -> Bool {
        var (app, delivery, version) = (app, delivery, version)
        if app.count > Self.nameBytes { app = app.cut(to: Self.nameBytes) }
        if delivery.count > Self.nameBytes { delivery = delivery.cut(to: Self.nameBytes) }
        if version.count > Limits.versionBytes { version = version.cut(to: Limits.versionBytes) }
        let end = 3 &+ app.count &+ delivery.count
        let more = version.count == 0 && mark == .none ? 0 : 1 &+ version.count
        return self.bytes.withUnsafeBytes { bytes in
            guard bytes.count == end &+ more, bytes[0] == Self.facts(platform, product),
                Int(bytes[1]) == app.count, bytes.holds(app, at: 2),
                Int(bytes[2 &+ app.count]) == delivery.count,
                bytes.holds(delivery, at: 3 &+ app.count)
            else { return false }
            return more == 0
                || (bytes[end] == mark.rawValue && bytes.holds(version, at: end &+ 1))
        }
    }

    /// The parts of a subject's bytes: those that a row's key has, and what is counted beside it.
    package static func parts(of bytes: Bytes) -> (key: Bytes, mark: SendMark, version: Bytes) {
        let app = Int(bytes[1])
        let end = 3 &+ app &+ Int(bytes[2 &+ app])
        guard bytes.count > end else { return (bytes, .none, .none) }
        return (
            Bytes(rebasing: bytes[..<end]), SendMark(rawValue: bytes[end]),
            Bytes(rebasing: bytes[(end &+ 1)...])
        )
    }

    /// Platform and product as one byte.
    @inline(__always)
    static func facts(_ platform: Platform?, _ product: Product) -> UInt8 {
        UInt8(truncatingIfNeeded: platform?.rawValue ?? 0) | product.rawValue << 2
    }

    /// The platform and the product of a subject's first byte.
    package static func facts(of byte: UInt8) -> (platform: Platform?, product: Product) {
        (Platform(number: Int32(byte & 3)), Product(rawValue: byte >> 2 & 3) ?? .standard)
    }
}
