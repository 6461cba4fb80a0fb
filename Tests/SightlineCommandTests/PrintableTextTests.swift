// What reaches a terminal.
internal import Testing
internal import WireFormat

struct PrintableTextTests {
    @Test("text that would drive a terminal is written out")
    func printable() {
        #expect("plain ü 漢 🙂".printable == "plain ü 漢 🙂")
        #expect("a\u{1B}[31m\n\u{202E}b\u{9B}".printable == "a\\u{1b}[31m\\u{a}\\u{202e}b\\u{9b}")
    }
}
