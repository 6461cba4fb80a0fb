internal import Foundation
@testable internal import SinkKit
internal import SwiftProtobuf
internal import TestSupport
internal import Testing
@testable internal import WireFormat

struct TextBufferTests {
    /// What `write` leaves in a buffer that has to grow for it.
    private static func text(_ write: (inout TextBuffer) -> Void) -> String {
        var buffer = TextBuffer(capacity: 0)
        write(&buffer)
        return String(decoding: buffer.bytes, as: UTF8.self)
    }

    private static func quoted(_ bytes: [UInt8]) throws(WireError) -> String {
        var buffer = TextBuffer(capacity: 0)
        let error: WireError? = bytes.withUnsafeBytes { bytes in
            do throws(WireError) {
                try buffer.append(quoting: bytes)
                return nil
            } catch {
                return error
            }
        }
        if let error { throw error }
        return String(decoding: buffer.bytes, as: UTF8.self)
    }

    @Test(
        "each character up to U+0120, at any place of a word, is escaped as SwiftProtobuf does it")
    func escapes() throws {
        for value in UInt32(0)...0x120 {
            guard let scalar = Unicode.Scalar(value) else { continue }
            for place in 0..<9 {
                let text = String(repeating: "a", count: place) + String(scalar) + "end \"of\" it"
                let expected = try Google_Protobuf_StringValue(text).jsonString()
                #expect(try Self.quoted(Array(text.utf8)) == expected)
            }
        }
    }

    @Test("a text of any length up to three words is written whole")
    func lengths() throws {
        for length in 0...24 {
            let text = String("abcdefghijklmnopqrstuvwxyz".prefix(length))
            #expect(try Self.quoted(Array(text.utf8)) == "\"\(text)\"")
        }
    }

    @Test(
        "a text that is not UTF-8 is refused, wherever that shows",
        arguments: [
            [0xff], [0xc2], [0xed, 0xa0, 0x80], [0xc2, 0x80, 0x80], [0xc3, 0xa9, 0xe2, 0x82],
        ])
    func invalid(bytes: [UInt8]) {
        for place in 0..<9 {
            let text = [UInt8](repeating: 0x61, count: place) + bytes
            #expect(throws: WireError.invalidUTF8) { try Self.quoted(text) }
        }
    }

    @Test("times are written as SwiftProtobuf does it, about the ends of February and of the year")
    func days() throws {
        // Leap years of all kinds, and their neighbours.
        let years = Array(1...9) + Array(1895...1905) + Array(1995...2005) + Array(9993...9999)
        for year in years {
            for (month, day) in [(1, 1), (2, 28), (3, 1), (7, 31), (12, 31)] {
                let days = Self.days(to: year, month, day)
                for second in [-1, 0, 43_199] {
                    try Self.compare(Int64(days * 86_400 + second), 0)
                }
            }
        }
    }

    @Test("every 997th day of all years is written as SwiftProtobuf does it")
    func allYears() throws {
        for day in stride(from: Int64(-719_162), through: 2_932_896, by: 997) {
            try Self.compare(day * 86_400 + 86_399, 0)
        }
    }

    @Test(
        "a fraction has 0, 3, 6 or 9 digits",
        arguments: [0, 1, 999, 1000, 999_999, 1_000_000, 120_000_000, 123_456_000, 999_999_999])
    func fractions(nanos: Int32) throws { try Self.compare(1_800_000_000, nanos) }

    @Test("the bounds of Timestamp are written, and one beyond them is not")
    func bounds() throws {
        for (seconds, nanos) in [(-62_135_596_800, 0), (253_402_300_799, 999_999_999)] {
            try Self.compare(Int64(seconds), Int32(nanos))
        }
        for (seconds, nanos) in [
            (-62_135_596_801, 0), (253_402_300_800, 0), (0, -1), (0, 1_000_000_000),
            (Int.min, 0), (Int.max, 0),
        ] {
            let text = Self.text { buffer in
                let isWritten = buffer.append(seconds: Int64(seconds), nanos: Int32(nanos))
                #expect(!isWritten)
            }
            #expect(text.isEmpty)
        }
    }

    @Test("numbers are written in decimal", arguments: [0, 9, 10, -1, 12_345, .max, .min])
    func numbers(number: Int64) {
        let text = Self.text { $0.append(number: number) }
        #expect(text == "\(number)")
    }

    @Test("base64 is Foundation's, at any length", arguments: 0...17)
    func base64(length: Int) {
        var dice = Dice(seed: UInt64(length))
        for _ in 0..<50 {
            let bytes = (0..<length).map { _ in UInt8(dice.below(256)) }
            let text = Self.text { buffer in bytes.withUnsafeBytes { buffer.append(base64: $0) } }
            #expect(text == Data(bytes).base64EncodedString())
        }
    }

    @Test("a part of the text can be appended again, and the text cut")
    func parts() {
        let text = Self.text { buffer in
            buffer.append("one, two, ")
            buffer.append(again: 0..<5)
            buffer.truncate(to: 13)
        }
        #expect(text == "one, two, one")
    }

    /// Days from 1970 to a date of the Gregorian calendar.
    private static func days(to year: Int, _ month: Int, _ day: Int) -> Int {
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        let before = year - 1
        let sinceYearOne = before * 365 + before / 4 - before / 100 + before / 400
        return sinceYearOne + lengths.prefix(month - 1).reduce(0, +) + day - 1 - 719_162
    }

    private static func compare(_ seconds: Int64, _ nanos: Int32) throws {
        let time = Google_Protobuf_Timestamp(seconds: seconds, nanos: nanos)
        guard let expected = try? time.jsonString() else { return }
        let text = Self.text { buffer in
            let isWritten = buffer.append(seconds: seconds, nanos: nanos)
            #expect(isWritten)
        }
        #expect(text == expected)
    }
}
