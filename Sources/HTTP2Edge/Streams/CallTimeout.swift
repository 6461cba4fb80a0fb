// The time that a client gives a call. Seen in grpc-swift-2 2.4.3: an amount below zero fails a
// precondition, which ends the process, and one of eight digits is not taken at all. Seen in Swift
// 6.3: the task that the library has wait for the time leaves 1.8 KiB until the time is over,
// however soon its call ends. So the library is not told.
internal import NIOCore
internal import NIOHPACK

/// The header `grpc-timeout`: 1 to 8 digits and a unit ("TimeoutValue TimeoutUnit" in gRPC over
/// HTTP/2).
enum CallTimeout: Equatable {
    case none
    case after(TimeAmount)
    /// The header's values are no time.
    case malformed(String)

    /// The name of the header.
    static let header = "grpc-timeout"

    private static let maxDigits = 8
    /// Eleven years: a deadline counts nanoseconds, and 293 years would not fit.
    private static let longest = TimeAmount.hours(99_999)
    /// Bytes of a value that an error shows.
    private static let shownBytes = 32
    private static let nanoseconds: [UInt8: Int64] = [
        UInt8(ascii: "n"): 1, UInt8(ascii: "u"): 1_000, UInt8(ascii: "m"): 1_000_000,
        UInt8(ascii: "S"): 1_000_000_000, UInt8(ascii: "M"): 60_000_000_000,
        UInt8(ascii: "H"): 3_600_000_000_000,
    ]

    /// Takes the timeout out of a call's head.
    static func take(from headers: inout HPACKHeaders) -> CallTimeout {
        let values = headers[Self.header]
        guard let value = values.first else { return .none }
        headers.remove(name: Self.header)
        guard values.count == 1 else { return .malformed(values.joined(separator: ", ")) }
        let digits = value.utf8.dropLast()
        guard (1...Self.maxDigits).contains(digits.count),
            digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let unit = value.utf8.last.flatMap({ Self.nanoseconds[$0] })
        else { return .malformed(value) }
        let amount = digits.reduce(0) { $0 &* 10 &+ Int64($1 &- UInt8(ascii: "0")) }
        let (nanoseconds, isTooLong) = amount.multipliedReportingOverflow(by: unit)
        return .after(isTooLong ? Self.longest : min(.nanoseconds(nanoseconds), Self.longest))
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
}
