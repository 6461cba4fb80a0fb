// The objects of a text are counted before it is decoded.
@testable internal import HTTPDoor
internal import Testing

struct JSONObjectCountTests {
    @Test(
        "the objects of a text are counted, and those in its strings are not",
        arguments: [
            ("", 0), ("{}", 1), ("[{},{}]", 2), (#"{"a":{"b":{}}}"#, 3), (#""{{""#, 0),
            (#"{"a\"{":"{\\"}{"#, 2), (#"{"a\\":{}}"#, 2), ("{{{", 3), (#""{"{"#, 1),
        ])
    func counts(_ text: String, _ count: Int) {
        #expect(JSONObjectCount.isAtMost(count, in: Array(text.utf8)))
        #expect(count == 0 || !JSONObjectCount.isAtMost(count - 1, in: Array(text.utf8)))
    }
}
