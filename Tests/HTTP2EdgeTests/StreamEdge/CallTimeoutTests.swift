// The time that a client gives a call: what of it is heeded, and for how long.
internal import GRPCCore
internal import GRPCProtobuf
@testable internal import HTTP2Edge
internal import NIOCore
internal import NIOHPACK
internal import Testing
@testable internal import TrackingServer

struct CallTimeoutTests {
    @Test(
        "1 to 8 digits and a unit are a time, of eleven years at most, and not the library's",
        arguments: [
            ("1S", .seconds(1)), ("0n", .zero), ("0000001m", .milliseconds(1)),
            ("00000001S", .seconds(1)), ("12345678n", .nanoseconds(12_345_678)),
            ("99999999u", .microseconds(99_999_999)), ("2M", .minutes(2)),
            ("5999940M", .hours(99_999)), ("5999941M", .hours(99_999)),
            ("99999H", .hours(99_999)), ("100000H", .hours(99_999)),
            ("99999999H", .hours(99_999)), ("99999999M", .hours(99_999)),
        ] as [(String, TimeAmount)])
    func taken(_ sent: String, _ time: TimeAmount) {
        var headers: HPACKHeaders = ["grpc-timeout": sent, "x": "y"]
        #expect(CallTimeout.take(from: &headers) == .after(time))
        #expect(headers == ["x": "y"])
    }

    @Test(
        "all else is refused",
        arguments: [
            "", "S", "1", "-1S", "+1S", "-0S", "1s", "1h", "1 S", " 1S", "1S ", "1.5S", "0x1S",
            "123456789S", "1SS", "1S,2S", "\u{0661}S", "1\u{0301}S", "1S\u{0301}",
            "9223372036854775808S",
        ])
    func refused(_ value: String) {
        var headers: HPACKHeaders = ["grpc-timeout": value]
        #expect(CallTimeout.take(from: &headers) == .malformed(value) && headers.isEmpty)
        let refusal = ServiceError.timeout(value)
        #expect(refusal.status.code == .invalidArgument)
        #expect(refusal.message.hasPrefix("grpc-timeout: \""))
    }

    @Test("two of them are refused, though each alone would pass")
    func twice() {
        var headers: HPACKHeaders = [:]
        headers.add(name: "grpc-timeout", value: "1S")
        headers.add(name: "grpc-timeout", value: "2S")
        #expect(CallTimeout.take(from: &headers) == .malformed("1S, 2S") && headers.isEmpty)
    }

    @Test("a call without one is left alone")
    func none() {
        var headers: HPACKHeaders = ["x": "y"]
        #expect(CallTimeout.take(from: &headers) == .none && headers == ["x": "y"])
    }

    @Test("an error shows a value escaped, and 32 bytes of it at most")
    func shown() {
        #expect(CallTimeout.shown("a\"\n\u{e9}") == #"a\x22\x0a\xc3\xa9"#)
        #expect(CallTimeout.shown(String(repeating: "1", count: 33)).hasSuffix("1…"))
        #expect(CallTimeout.shown(String(repeating: "1", count: 32)).hasSuffix("11"))
    }
}
