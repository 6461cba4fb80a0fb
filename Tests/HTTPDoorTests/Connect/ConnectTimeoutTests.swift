// connect-timeout-ms, and the grpc-timeout that it becomes.
@testable internal import HTTPDoor
internal import Testing

struct ConnectTimeoutTests {
    @Test(
        "1 to 10 digits are a time, which is never shortened",
        arguments: [
            ("0", "0m"), ("1", "1m"), ("99999999", "99999999m"), ("100000000", "100000S"),
            ("100000001", "100001S"), ("9999999999", "10000000S"), ("0000000001", "1S"),
        ])
    func taken(_ sent: String, _ timeout: String) throws {
        #expect(try ConnectTimeout.grpcTimeout(milliseconds: sent) == timeout)
    }

    @Test(
        "all else is refused",
        arguments: ["", " ", "-1", "+1", "1.5", "1m", "1, 2", "10000000000", "1\u{301}", "\u{661}"])
    func refused(_ sent: String) {
        #expect {
            try ConnectTimeout.grpcTimeout(milliseconds: sent)
        } throws: { error in
            (error as? ConnectRefusal)?.field == "connect-timeout-ms"
        }
    }
}
