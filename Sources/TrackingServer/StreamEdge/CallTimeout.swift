// The time that a client gives a call. Seen in grpc-swift-2 2.4.3: an amount below zero fails a
// precondition, which ends the process, and one of eight digits is not taken at all.
internal import NIOHPACK

/// The header `grpc-timeout`: 1 to 8 digits and a unit ("TimeoutValue TimeoutUnit" in gRPC over
/// HTTP/2).
enum CallTimeout {
    /// The name of the header.
    static let header = "grpc-timeout"

    private static let maxDigits = 8
    /// Digits that the library takes.
    private static let libraryDigits = 7
    /// Eleven years. The runtime counts nanoseconds: 293 years would not fit in 64 bits.
    private static let maxHours = 99_999
    /// Bytes of a value that an error shows.
    private static let shownBytes = 32
    /// How many of each unit are one of the next larger.
    private static let units: [UInt8: (perNext: Int, next: Character)] = [
        UInt8(ascii: "n"): (1000, "u"), UInt8(ascii: "u"): (1000, "m"),
        UInt8(ascii: "m"): (1000, "S"), UInt8(ascii: "S"): (60, "M"), UInt8(ascii: "M"): (60, "H"),
    ]

    /// Leaves a call's timeout in a form that the library takes.
    ///
    /// - Returns: what the call is refused with; nil where it is not.
    static func check(_ headers: inout HPACKHeaders) -> ServiceError? {
        let values = headers[Self.header]
        guard let value = values.first else { return nil }
        guard values.count == 1 else { return .timeout(values.joined(separator: ", ")) }
        let digits = value.utf8.dropLast()
        guard (1...Self.maxDigits).contains(digits.count),
            digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let unit = value.utf8.last, unit == UInt8(ascii: "H") || Self.units[unit] != nil
        else { return .timeout(value) }
        let amount = digits.reduce(0) { $0 &* 10 &+ Int($1 &- UInt8(ascii: "0")) }
        let isLong = unit == UInt8(ascii: "H") && amount > Self.maxHours
        if isLong || digits.count > Self.libraryDigits {
            headers.replaceOrAdd(name: Self.header, value: Self.shortened(amount, unit))
        }
        return nil
    }

    /// A value as an error shows it: printable, and not all of a long one.
    static func shown(_ value: String) -> String {
        let text = value.utf8.prefix(Self.shownBytes).map { byte in
            guard (0x20...0x7E).contains(byte), byte != UInt8(ascii: "\"") else {
                return (byte < 16 ? "\\x0" : "\\x") + String(byte, radix: 16)
            }
            return String(UnicodeScalar(byte))
        }.joined()
        return value.utf8.count > Self.shownBytes ? text + "…" : text
    }

    /// About the same time in a larger unit, rounded up.
    private static func shortened(_ amount: Int, _ unit: UInt8) -> String {
        guard let (perNext, next) = Self.units[unit] else {
            return "\(min(amount, Self.maxHours))H"
        }
        return "\((amount &+ perNext &- 1) / perNext)\(next)"
    }
}
