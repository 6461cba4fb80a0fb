@testable internal import HTTPDoor
internal import Testing

struct PercentEncodingTests {
    @Test(
        "escapes of either case are decoded, and what is none stays",
        arguments: [
            ("", ""), ("abc", "abc"), ("%2C%2c", ",,"), ("a+b", "a+b"), ("%", "%"), ("%4", "%4"),
            ("%zz", "%zz"), ("%4%41", "%4A"), ("%25%32", "%2"), ("%C3%A9", "é"),
        ])
    func decoded(_ row: (text: String, decoded: String)) {
        #expect(PercentEncoding.decoded(row.text.utf8) == Array(row.decoded.utf8))
    }

    @Test(
        "what a URL may not have is escaped, and nothing else changes",
        arguments: [
            ("/r/?id=h1,2,1&mcId=a%20b", "/r/?id=h1,2,1&mcId=a%20b"), ("a b", "a%20b"),
            ("%", "%25"), ("%4", "%254"), ("%zz%41", "%25zz%41"), ("a#b", "a%23b"),
            ("é", "%C3%A9"), ("\u{7f}\u{1}", "%7F%01"),
            ("[x]|\"<>\\^`{}", "%5Bx%5D%7C%22%3C%3E%5C%5E%60%7B%7D"),
        ])
    func fit(_ row: (text: String, fit: String)) {
        #expect(PercentEncoding.fit(row.text) == row.fit)
    }
}
