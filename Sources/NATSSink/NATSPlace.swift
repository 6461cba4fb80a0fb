// Where the stream keeps the last hit that was delivered: by it a loss is noticed.
/// A stream, and hits in it.
struct NATSPlace: Equatable {
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

    /// What tells that the stream has lost the place; nil where it has it, or has only let it
    /// go in its turn. Only the tail of a stream is ever lost, so one look tells of all before.
    ///
    /// The servers of a cluster tell different times of one stream for which two creations
    /// were under way at once: those that ran keep the first one's, and a restarted one takes
    /// the last one's (seen with nats-server 2.9.10). So another time alone is no loss where
    /// the stream still has what was seen in it. The newest hit would not do there: a stream
    /// made anew between two looks may have given it its sequence.
    ///
    /// - Parameter hitID: gives the id of the hit at a sequence; nil where there is none.
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

extension NATSPlace {
    /// What the journal keeps: the time and the marks, separated by spaces.
    var text: String {
        ([self.newest] + (self.seen.map { [$0] } ?? [])).reduce(into: "\(self.created)") {
            $0 += " \($1.sequence) \($1.hitID)"
        }
    }

    /// A place as the journal has kept it; nil where the text is none.
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

/// What of a stream tells whether it has lost something.
struct NATSStreamState: Equatable {
    /// When it was made, in nanoseconds since 1970.
    var created: Int64
    /// Its oldest message's sequence.
    var firstSequence: UInt64
    /// Its newest message's sequence.
    var lastSequence: UInt64
}
