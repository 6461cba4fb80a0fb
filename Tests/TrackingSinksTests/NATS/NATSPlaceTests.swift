// By what a loss is told, and what is none.
#if NATS
    internal import Testing

    @testable internal import TrackingSinks

    struct NATSPlaceTests {
        private static let place = NATSPlace(created: 7, sequence: 100, hitID: "ab")

        @Test("a place is read as it was written, and nonsense is none")
        func text() {
            #expect(NATSPlace(Self.place.text) == Self.place)
            for text in ["", "7", "7 100", "x 100 ab", "7 -1 ab", "7 100 ab cd"] {
                #expect(NATSPlace(text) == nil)
            }
        }

        @Test(
            "a stream made anew, cut, or cut and filled again has lost; one that let go has not",
            arguments: [
                (NATSStreamState(created: 7, firstSequence: 1, lastSequence: 100), "ab", nil),
                (NATSStreamState(created: 7, firstSequence: 1, lastSequence: 999), "ab", nil),
                // Deleted one by one, or too old to be kept.
                (NATSStreamState(created: 7, firstSequence: 1, lastSequence: 999), nil, nil),
                (NATSStreamState(created: 7, firstSequence: 101, lastSequence: 100), nil, nil),
                (
                    NATSStreamState(created: 8, firstSequence: 1, lastSequence: 999), "ab",
                    "the stream was made anew"
                ),
                (
                    NATSStreamState(created: 7, firstSequence: 1, lastSequence: 99), nil,
                    "the stream ends at 99, but 100 was acked"
                ),
                (
                    NATSStreamState(created: 7, firstSequence: 1, lastSequence: 999), "cd",
                    "the stream has cd at 100, where ab was acked"
                ),
            ] as [(NATSStreamState, String?, String?)])
        func loss(_ state: NATSStreamState, _ hitID: String?, _ loss: String?) throws {
            #expect(try Self.place.loss(in: state) { _ throws(NATSError) in hitID } == loss)
        }
    }
#endif
