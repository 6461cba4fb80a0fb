// Log records as JSON: their order, their escapes and their limit.
internal import Foundation
internal import Logging
@testable internal import Telemetry
internal import Testing

struct JSONLineTests {
    /// 2026-01-31T23:59:59.000123Z.
    static let time: Int64 = 1_769_903_999_000_123

    private func record(
        _ message: String, _ metadata: Logger.Metadata = [:], logger: String = "sightline"
    ) -> LogRecord {
        let event = LogEvent(
            level: .warning, message: "\(message)", metadata: metadata, source: nil, file: "",
            function: "", line: 0)
        return LogRecord(event, logger: logger, time: Self.time, metadata: [:], provider: nil)
    }

    private func line(_ record: LogRecord) -> String {
        String(decoding: JSONLine.bytes(record), as: UTF8.self)
    }

    @Test("the record's own keys come first, then the trace, then metadata by their names")
    func order() {
        let record = self.record(
            "hello",
            [
                "b": ["x", "y"], "a": .stringConvertible(3), "span_id": "00f0", "trace_id": "4bf9",
                "c": ["k": "v", "j": ["w"]],
            ])
        #expect(
            self.line(record) == #"{"time":"2026-01-31T23:59:59.000123Z","level":"warning","#
                + #""logger":"sightline","msg":"hello","trace_id":"4bf9","span_id":"00f0","#
                + #""a":3,"b":["x","y"],"c":{"j":["w"],"k":"v"}}"# + "\n")
    }

    @Test(
        "numbers and flags have no quotes, what JSON has no number for has them",
        arguments: [
            (.stringConvertible(0), "0"), (.stringConvertible(Int64.min), "-9223372036854775808"),
            (.stringConvertible(UInt64.max), "18446744073709551615"),
            (.stringConvertible(1.5), "1.5"), (.stringConvertible(-2e-9), "-2e-09"),
            (.stringConvertible(true), "true"), (.stringConvertible(Double.nan), #""nan""#),
            (.stringConvertible(Double.infinity), #""inf""#), (.string("1"), #""1""#),
            (.number(7), "7"), (.seconds(.microseconds(1_500_400)), "1.5"),
            (.milliseconds(.microseconds(1_500)), "2"),
            ([.stringConvertible(1), "1"], #"[1,"1"]"#),
            (["k": .stringConvertible(1)], #"{"k":1}"#),
        ] as [(Logger.MetadataValue, String)])
    func numbers(_ value: Logger.MetadataValue, _ text: String) throws {
        let line = self.line(self.record("m", ["k": value]))
        #expect(line.hasSuffix(#""msg":"m","k":\#(text)}"# + "\n"))
        #expect(throws: Never.self) { try JSONSerialization.jsonObject(with: Data(line.utf8)) }
    }

    @Test("the service's name follows the message, and metadata do not take its place")
    func service() {
        var record = self.record("m", ["service.name": "other"])
        record.service = "tracking"
        #expect(
            self.line(record).hasSuffix(
                #""msg":"m","service.name":"tracking","service.name_":"other"}"# + "\n"))
    }

    @Test("metadata that are called like a key of the record's get an underscore")
    func ownKeys() throws {
        let line = self.line(self.record("m", ["msg": "1", "time": "2", "level": "3"]))
        #expect(line.hasSuffix(#""msg":"m","level_":"3","msg_":"1","time_":"2"}"# + "\n"))
    }

    @Test(
        "text is escaped as RFC 8259 asks, and cannot end its line",
        arguments: [
            ("\"", #"\""#), ("\\", #"\\"#), ("\n", #"\n"#), ("\r", #"\r"#), ("\t", #"\t"#),
            ("\u{8}", #"\b"#), ("\u{c}", #"\f"#), ("\0", #"\u0000"#), ("\u{1b}", #"\u001b"#),
            ("\u{1f}", #"\u001f"#), ("\u{7f}", #"\u007f"#), ("\u{9f}", #"\u009f"#),
            ("\u{2028}", #"\u2028"#), ("\u{2029}", #"\u2029"#), ("/", "/"), ("ä€😀", "ä€😀"),
            ("\u{a0}", "\u{a0}"),
        ])
    func escapes(_ text: String, _ escaped: String) throws {
        let line = self.line(self.record(text, ["k\(text)": [text: .array([.string(text)])]]))
        #expect(
            line.hasSuffix(
                #""msg":"\#(escaped)","k\#(escaped)":{"\#(escaped)":["\#(escaped)"]}}"# + "\n"))
        let read = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        #expect(read?["msg"] as? String == text)
    }

    @Test("a record of 8 KiB is whole, and of one byte more is cut and says so")
    func limit() throws {
        let rest = JSONLine.bytes(self.record("m", ["k": ""])).count
        // What a cut record says has to fit in any case.
        let room = 8192 - rest - #","cut":true"#.utf8.count
        for (count, isCut) in [(room, false), (room + 1, true), (1 << 20, true)] {
            let text = String(repeating: "x", count: count)
            let line = JSONLine.bytes(self.record("m", ["k": .string(text), "z": "last"]))
            #expect(line.count <= 8192)
            let alone = JSONLine.bytes(self.record("m", ["k": .string(text)]))
            #expect(alone.count <= 8192)
            let read = try #require(
                try JSONSerialization.jsonObject(with: Data(alone)) as? [String: Any])
            #expect((read["cut"] as? Bool == true) == isCut)
            #expect((read["k"] as? String)?.count == min(count, room))
        }
    }

    @Test(
        "wherever the limit falls the line is one JSON object and no character is cut in two",
        arguments: 1...350)
    func anyLimit(_ extra: Int) throws {
        let record = self.record(
            "häl\"lo\n😀",
            [
                "a": "\u{1}ä", "b": ["x", ["y": "😀😀"]], "c": "\\\\",
                "c1": .stringConvertible(1_234_567), "c2": [.stringConvertible(-0.5)], "d": [:],
            ])
        let line = JSONLine.bytes(record, maxBytes: 60 + extra)
        #expect(line.count <= 60 + extra)
        #expect(line.last == UInt8(ascii: "\n"))
        let read = try JSONSerialization.jsonObject(with: Data(line)) as? [String: Any]
        let isWhole = read?["d"] != nil
        #expect((read?["cut"] as? Bool == true) == !isWhole)
    }

    @Test("metadata that are nested without end are cut at their eighth level")
    func depth() {
        var value = Logger.Metadata.Value.string("deep")
        for _ in 0..<10 { value = .array([value]) }
        #expect(self.line(self.record("m", ["k": value])).contains(#""k":[[[[[[[["…"]]]]]]]]"#))
    }

    @Test(
        "times are RFC 3339 in UTC",
        arguments: [
            (0, "1970-01-01T00:00:00.000000Z"),
            (951_782_400_000_001, "2000-02-29T00:00:00.000001Z"),
            (Self.time, "2026-01-31T23:59:59.000123Z"),
        ] as [(Int64, String)])
    func times(_ microseconds: Int64, _ text: String) {
        #expect(LogTime.text(microseconds) == text)
    }
}
