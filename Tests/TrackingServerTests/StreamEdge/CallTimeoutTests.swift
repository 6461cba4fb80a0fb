// The time that a client gives a call: what reaches the library, which takes few forms of it.
internal import GRPCCore
internal import GRPCProtobuf
internal import NIOHPACK
internal import Testing

@testable internal import TrackingServer

struct CallTimeoutTests {
    @Test(
        "1 to 8 digits and a unit pass, in a form that the library takes",
        arguments: [
            ("1S", "1S"), ("0n", "0n"), ("0000001m", "0000001m"), ("9999999M", "9999999M"),
            ("00000001S", "1M"), ("12345678n", "12346u"), ("99999999u", "100000m"),
            ("99999999m", "100000S"), ("99999999S", "1666667M"), ("60000000M", "1000000H"),
            ("99999H", "99999H"), ("100000H", "99999H"), ("99999999H", "99999H"),
        ])
    func taken(_ sent: String, _ passed: String) {
        var headers: HPACKHeaders = ["grpc-timeout": sent, "x": "y"]
        #expect(CallTimeout.check(&headers) == nil)
        #expect(headers["grpc-timeout"] == [passed] && headers["x"] == ["y"])
    }

    @Test(
        "all else is refused",
        arguments: [
            "", "S", "1", "-1S", "+1S", "-0S", "1s", "1h", "1 S", " 1S", "1S ", "1.5S", "0x1S",
            "123456789S", "1SS", "1S,2S", "\u{0661}S", "1\u{0301}S", "1S\u{0301}",
            "9223372036854775808S",
        ])
    func refused(_ value: String) throws {
        var headers: HPACKHeaders = ["grpc-timeout": value]
        let refusal = try #require(CallTimeout.check(&headers))
        #expect(refusal.status.code == .invalidArgument)
        #expect(refusal.message.hasPrefix("grpc-timeout: \""))
    }

    @Test("two of them are refused, though each alone would pass")
    func twice() {
        var headers: HPACKHeaders = [:]
        headers.add(name: "grpc-timeout", value: "1S")
        headers.add(name: "grpc-timeout", value: "2S")
        #expect(CallTimeout.check(&headers)?.message.contains(#""1S, 2S""#) == true)
    }

    @Test("a call without one is left alone")
    func none() {
        var headers: HPACKHeaders = ["x": "y"]
        #expect(CallTimeout.check(&headers) == nil && headers == ["x": "y"])
    }

    @Test("an error shows a value escaped, and 32 bytes of it at most")
    func shown() {
        #expect(CallTimeout.shown("a\"\n\u{e9}") == #"a\x22\x0a\xc3\xa9"#)
        #expect(CallTimeout.shown(String(repeating: "1", count: 33)).hasSuffix("1…"))
        #expect(CallTimeout.shown(String(repeating: "1", count: 32)).hasSuffix("11"))
    }
}
