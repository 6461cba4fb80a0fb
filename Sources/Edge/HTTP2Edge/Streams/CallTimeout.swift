// The edge enforces deadlines itself and hides them from the library. In grpc-swift-2 2.4.3 a
// negative timeout fails a precondition, which ends the process, and eight digits are refused. In
// Swift 6.3 the task that waits for the timeout keeps 1.8 KiB until it expires, even if its call
// ended long before.
package import GRPCCore
package import NIOCore
internal import NIOHPACK

/// The header `grpc-timeout`: 1 to 8 digits and a unit ("TimeoutValue TimeoutUnit" in gRPC over
/// HTTP/2).
package enum CallTimeout: Equatable {
    /// The call may take any time.
    case none
    /// The call ends after this time.
    case after(TimeAmount)
    /// The header is malformed, or occurs more than once.
    case malformed(String)

    static let header = "grpc-timeout"

    private static let maxDigits = 8
    /// Longer timeouts are reduced to eleven years: 293 years of nanoseconds would overflow.
    private static let longest = TimeAmount.hours(99_999)
    /// The maximum bytes of a value in an error message.
    private static let shownBytes = 32
    private static let nanoseconds: [UInt8: Int64] = [
        UInt8(ascii: "n"): 1, UInt8(ascii: "u"): 1_000, UInt8(ascii: "m"): 1_000_000,
        UInt8(ascii: "S"): 1_000_000_000, UInt8(ascii: "M"): 60_000_000_000,
        UInt8(ascii: "H"): 3_600_000_000_000,
    ]

    /// Removes the timeout from a call's headers and parses it.
    static func take(from headers: inout HPACKHeaders) -> CallTimeout {
        let values = headers[Self.header]
        if !values.isEmpty { headers.remove(name: Self.header) }
        return Self.parsed(values)
    }

    /// Removes the timeout from a call's metadata and parses it.
    package static func take(from metadata: inout Metadata) -> CallTimeout {
        let values = Array(metadata[stringValues: Self.header])
        metadata.removeAllValues(forKey: Self.header)
        return Self.parsed(values)
    }

    private static func parsed(_ values: [String]) -> CallTimeout {
        guard let value = values.first else { return .none }
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

    /// A value for an error message: printable and shortened.
    package static func shown(_ value: String) -> String {
        let text = value.utf8.prefix(Self.shownBytes).map { byte in
            guard (0x20...0x7E).contains(byte), byte != UInt8(ascii: "\"") else {
                return (byte < 16 ? "\\x0" : "\\x") + String(byte, radix: 16)
            }
            return String(UnicodeScalar(byte))
        }.joined()
        return value.utf8.count > Self.shownBytes ? text + "…" : text
    }
}
