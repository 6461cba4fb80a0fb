// What a text's decoder may find in it is found before it is decoded.
@testable internal import HTTPDoor
internal import Testing

struct JSONShapeTests {
    @Test(
        "the objects of a text are counted, and those in its strings are not",
        arguments: [
            ("", 0), ("{}", 1), ("[{},{}]", 2), (#"{"a":{"b":{}}}"#, 3), (#""{{""#, 0),
            (#"{"a\"{":"{\\"}{"#, 2), (#"{"a\\":{}}"#, 2), ("{{{", 3), (#""{"{"#, 1),
        ])
    func objects(_ text: String, _ count: Int) {
        #expect(JSONShape(of: Array(text.utf8)).objects == count)
    }

    @Test(
        "the longest name is found as it is written, and no value is one",
        arguments: [
            ("", 0), (#"{"abc":1}"#, 3), (#"{"a":"bcdef"}"#, 1), (#"{"a":{"bc" : 1},"d":2}"#, 2),
            (#"{"\u00e9":1}"#, 6), (#"{"é":1}"#, 2), (#"{"a\":":1}"#, 4), (#"["abc","d"]"#, 0),
            (#""abc"#, 0), (#"{"abc" "#, 0), ("\"abc\"\n\t:", 3),
        ])
    func names(_ text: String, _ bytes: Int) {
        #expect(JSONShape(of: Array(text.utf8)).longestName == bytes)
    }
}
