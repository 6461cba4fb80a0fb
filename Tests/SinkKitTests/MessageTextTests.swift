// What gets into subjects and headers, whatever the bytes are.
internal import SinkKit
internal import SinkTestSupport
internal import TestSupport
internal import Testing
internal import TrackingRules

struct MessageTextTests {
    @Test(
        "a part of a subject has no dot, no wildcard, no space and is never empty",
        arguments: [
            ("", "_"), ("_", "%5F"), ("__", "__"), ("a-b_c9Z", "a-b_c9Z"),
            ("com.example.app", "com%2Eexample%2Eapp"), ("*", "%2A"), (">", "%3E"),
            ("a b", "a%20b"), ("50%", "50%25"), ("\r\n", "%0D%0A"), ("ä", "%C3%A4"),
            ("\0", "%00"),
        ])
    func token(_ text: String, _ expected: String) {
        var written = MessageText()
        [UInt8](text.utf8).withUnsafeBytes { written.append(token: $0) }
        #expect(written.text == expected)
    }

    @Test("no two parts of a subject are written alike")
    func distinctTokens() {
        let all = (0...255).map { [UInt8($0)] } + [[], [0x25, 0x32], [0x5f, 0x5f]]
        let written = all.map { bytes in
            var text = MessageText()
            bytes.withUnsafeBytes { text.append(token: $0) }
            return text.text
        }
        #expect(Set(written).count == all.count)
    }

    @Test(
        "CloudEvents, NATS binding 3.1.3.2: a header's value is printable ASCII, else escaped",
        arguments: [
            ("", ""), ("a=b,c/d", "a=b,c/d"), ("a b", "a%20b"), ("\"%", "%22%25"),
            ("a\r\nb", "a%0D%0Ab"), ("€", "%E2%82%AC"), ("~\u{7f}", "~%7F"),
        ])
    func value(_ text: String, _ expected: String) {
        var written = MessageText()
        [UInt8](text.utf8).withUnsafeBytes { written.append(value: $0) }
        #expect(written.text == expected)
    }

    @Test("a hit's id is 32 digits, also where its first bit is set")
    func hitID() throws {
        let ids = try (1...200).flatMap { number in
            try TestHits.batch([TestEvents.full(id: number)]).hitIDs
        }
        #expect(ids.allSatisfy { $0.written == $0.expected })
        #expect(ids.contains { $0.expected >= "8" })
    }
}

extension HitBatch {
    /// The hits' ids, by the code under test and by Foundation's.
    fileprivate var hitIDs: [(written: String, expected: String)] {
        get throws {
            var ids: [(String, String)] = []
            try self.forEach { _, hit in
                let expected = hit.id.map { String(0x100 + Int($0), radix: 16).dropFirst() }
                ids.append((MessageText(hitID: hit).text, expected.joined()))
            }
            return ids
        }
    }
}
