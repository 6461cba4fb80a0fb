#if NATS
// Where the stream keeps the last hit that was delivered: by it a loss is noticed.
/// A stream, and hits in it.
struct NATSResumeToken: Equatable {
    /// When the stream was made, in nanoseconds since 1970: another one has another time.
    var created: Int64
    /// The newest hit that was acked.
    var newest: Mark
    /// The newest hit when the stream was last looked at, and was whole; nil before that.
    var seen: Mark?

    /// Where a hit is.
    struct Mark: Equatable {
        /// Its sequence in the stream.
        var sequence: UInt64
        /// Its id, in hexadecimal.
        var hitID: String
    }

    /// Why the stream must have lost hits; nil if it still has the newest hit, or expired it
    /// regularly. A stream only ever loses its tail, so checking one hit covers all earlier ones.
    ///
    /// A different creation time alone proves nothing: if two creations of a stream race, a
    /// cluster's servers keep different times, and a restart may switch them (seen with
    /// nats-server 2.9.10). So the stream is intact if it still has the hit seen before. The
    /// newest hit would prove nothing: a stream recreated between two checks may have reused
    /// its sequence.
    ///
    /// - Parameter hitID: returns the id of the hit at a sequence; nil if there is none.
    func loss(
        in state: NATSStreamState, hitID: (UInt64) throws(NATSError) -> String?
    ) throws(NATSError) -> String? {
        func found(_ mark: Mark) throws(NATSError) -> String? {
            state.firstSequence <= mark.sequence && mark.sequence <= state.lastSequence
                ? try hitID(mark.sequence) : nil
        }
        if state.created != self.created {
            guard let seen, try found(seen) == seen.hitID
            else { return "the stream was made anew" }
        }
        guard state.lastSequence >= self.newest.sequence else {
            return "the stream ends at \(state.lastSequence), but \(self.newest.sequence)"
                + " was acked"
        }
        guard let found = try found(self.newest), found != self.newest.hitID
        else { return nil }
        return "the stream has \(found) at \(self.newest.sequence), where"
            + " \(self.newest.hitID) was acked"
    }
}

extension NATSResumeToken {
    /// The form that the journal stores: creation time and marks, separated by spaces.
    var text: String {
        ([self.newest] + (self.seen.map { [$0] } ?? [])).reduce(into: "\(self.created)") {
            $0 += " \($1.sequence) \($1.hitID)"
        }
    }

    /// Parses a stored token; nil if the text is malformed.
    init?(_ text: String) {
        let words = text.split(separator: " ")
        guard words.count == 3 || words.count == 5, let created = Int64(words[0])
        else { return nil }
        var marks: [Mark] = []
        for position in stride(from: 1, to: words.count, by: 2) {
            guard let sequence = UInt64(words[position]) else { return nil }
            marks.append(Mark(sequence: sequence, hitID: String(words[position + 1])))
        }
        self.init(created: created, newest: marks[0], seen: marks.dropFirst().first)
    }
}

/// The properties of a stream that reveal a loss.
struct NATSStreamState: Equatable {
    /// When the stream was created, in nanoseconds since 1970.
    var created: Int64
    /// The sequence of its oldest message.
    var firstSequence: UInt64
    /// The sequence of its newest message.
    var lastSequence: UInt64
}
#endif
