// By what a loss is told, and what is none.
internal import Testing

@testable internal import NATSSink

struct NATSResumeTokenTests {
    private static let token = NATSResumeToken(
        created: 7, newest: .init(sequence: 100, hitID: "ab"),
        seen: .init(sequence: 60, hitID: "ef"))

    @Test("a token is read as it was written, and nonsense is none")
    func text() {
        var unseen = Self.token
        unseen.seen = nil
        #expect(NATSResumeToken(Self.token.text) == Self.token)
        #expect(NATSResumeToken(unseen.text) == unseen)
        for text in [
            "", "7", "7 100", "x 100 ab", "7 -1 ab", "7 100 ab 60", "7 100 ab x ef",
            "7 100 ab 60 ef 3",
        ] {
            #expect(NATSResumeToken(text) == nil)
        }
    }

    @Test(
        "a stream made anew, cut, or cut and filled again has lost; one that let go has not",
        arguments: [
            (Self.state(7, 1, 100), [100: "ab"], nil),
            (Self.state(7, 1, 999), [100: "ab"], nil),
            // Deleted one by one, or too old to be kept.
            (Self.state(7, 1, 999), [:], nil),
            (Self.state(7, 101, 100), [:], nil),
            (Self.state(7, 1, 99), [:], "the stream ends at 99, but 100 was acked"),
            (
                Self.state(7, 1, 999), [100: "cd"],
                "the stream has cd at 100, where ab was acked"
            ),
            // Told by a server that has another time of the same stream.
            (Self.state(8, 1, 999), [60: "ef", 100: "ab"], nil),
            (Self.state(8, 60, 99), [60: "ef"], "the stream ends at 99, but 100 was acked"),
            // Made anew, and filled up to here before anybody looked.
            (Self.state(8, 1, 999), [60: "cd", 100: "ab"], "the stream was made anew"),
            (Self.state(8, 1, 59), [:], "the stream was made anew"),
            (Self.state(8, 61, 999), [60: "ef", 100: "ab"], "the stream was made anew"),
        ] as [(NATSStreamState, [UInt64: String], String?)])
    func loss(_ state: NATSStreamState, _ hits: [UInt64: String], _ loss: String?) throws {
        #expect(try Self.token.loss(in: state) { (at) throws(NATSError) in hits[at] } == loss)
    }

    @Test("a token of which nothing was seen yet is lost where the time is another")
    func unseen() throws {
        let token = NATSResumeToken(created: 7, newest: .init(sequence: 1, hitID: "ab"))
        #expect(
            try token.loss(in: Self.state(8, 1, 1)) { _ throws(NATSError) in "ab" }
                == "the stream was made anew")
    }

    private static func state(
        _ created: Int64, _ firstSequence: UInt64, _ lastSequence: UInt64
    ) -> NATSStreamState {
        NATSStreamState(
            created: created, firstSequence: firstSequence, lastSequence: lastSequence)
    }
}
