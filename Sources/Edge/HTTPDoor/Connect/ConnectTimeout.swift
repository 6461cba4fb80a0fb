/// The header `connect-timeout-ms`.
enum ConnectTimeout {
    /// The maximum digits, as the protocol has it: 115 days.
    static let maxDigits = 10
    /// The maximum digits of a `grpc-timeout`.
    private static let maxGRPCDigits = 8

    /// The timeout as the value of `grpc-timeout`, by which the deadline of a call is kept.
    static func grpcTimeout(milliseconds text: String) throws(ConnectRefusal) -> String {
        let digits = text.utf8
        guard (1...Self.maxDigits).contains(digits.count),
            digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else {
            throw .malformed(
                "connect-timeout-ms",
                "\"\(ConnectRefusal.shown(text))\" is no time: send it once, as 1 to "
                    + "\(Self.maxDigits) digits, in milliseconds")
        }
        guard digits.count > Self.maxGRPCDigits else { return text + "m" }
        let milliseconds = digits.reduce(Int64(0)) { $0 &* 10 &+ Int64($1 &- UInt8(ascii: "0")) }
        // Never shorter than asked for.
        return "\((milliseconds &+ 999) / 1000)S"
    }
}
