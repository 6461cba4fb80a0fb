// Sizes and times with units, as keys and options take them.
internal import ConfigurationKeys
internal import Testing

@testable internal import ServerConfiguration

struct AmountTests {
    @Test(
        "a number may have a unit, and counts as its key's unit without one",
        arguments: [
            ("0", "bytes", 0), ("512", "bytes", 512), ("512B", "bytes", 512),
            ("16k", "bytes", 16_384), ("16K", "bytes", 16_384), ("16kb", "bytes", 16_384),
            ("16KiB", "bytes", 16_384), ("64 MB", "bytes", 64 << 20), ("4GB", "bytes", 4 << 30),
            ("1t", "bytes", 1 << 40), ("8388607T", "bytes", 8_388_607 << 40),
            ("5", "seconds", 5), ("90s", "seconds", 90), ("15m", "seconds", 900),
            ("15min", "seconds", 900), ("12h", "seconds", 43_200), ("7d", "seconds", 604_800),
            ("2000ms", "seconds", 2), ("5s", "milliseconds", 5000), ("48h", "days", 2),
            ("-1", "seconds", -1), ("7", "hits", 7),
        ])
    func taken(text: String, unit: String, value: Int) {
        #expect(Amount.value(of: text, in: unit) == value)
    }

    @Test(
        "what is no such amount is refused: nonsense, a foreign unit, a part of a unit, overflow",
        arguments: [
            ("", "bytes"), ("GB", "bytes"), ("4XB", "bytes"), ("1.5GB", "bytes"), ("-4GB", "bytes"),
            ("4GB ", "bytes"), ("0x10", "bytes"), ("4s", "bytes"), ("4\u{212A}", "bytes"),
            ("8388608T", "bytes"), ("99999999999999999999", "bytes"), ("4GB", "seconds"),
            ("90S", "seconds"), ("1500ms", "seconds"), ("1h30m", "seconds"), ("36h", "days"),
            ("106751991168d", "seconds"), ("7k", "hits"), ("7s", "hits"),
        ])
    func refused(text: String, unit: String) {
        #expect(Amount.value(of: text, in: unit) == nil)
    }

    @Test("each key of an amount takes its default with a unit, and says which it takes")
    func keys() {
        let suffixes = ["bytes": "B", "milliseconds": "ms", "seconds": "s", "days": "d"]
        var count = 0
        for key in ServerConfiguration.keys {
            guard case .number(let standard, _) = key.standard, let suffix = suffixes[key.unit]
            else { continue }
            count += 1
            #expect(key.takes("\(standard)\(suffix)"), "\(key.name)")
            #expect(key.rule.contains(", or as "), "\(key.name)")
        }
        #expect(count > 80)
    }
}
