// Where the stream keeps the last hit that was delivered: by it a loss is noticed.
#if NATS
    /// A stream, and a hit in it.
    struct NATSPlace: Equatable {
        /// When the stream was made, in nanoseconds since 1970: another one has another time.
        var created: Int64
        /// The hit's sequence in the stream.
        var sequence: UInt64
        /// The hit's id, in hexadecimal.
        var hitID: String

        /// What the journal keeps.
        var text: String { "\(self.created) \(self.sequence) \(self.hitID)" }

        init(created: Int64, sequence: UInt64, hitID: String) {
            self.created = created
            self.sequence = sequence
            self.hitID = hitID
        }

        /// A place as the journal has kept it; nil where the text is none.
        init?(_ text: String) {
            let words = text.split(separator: " ")
            guard words.count == 3, let created = Int64(words[0]), let sequence = UInt64(words[1])
            else { return nil }
            self.init(created: created, sequence: sequence, hitID: String(words[2]))
        }

        /// What tells that the stream has lost the place; nil where it has it, or has only let it
        /// go in its turn. Only the tail of a stream is ever lost, so one look tells of all before.
        ///
        /// - Parameter hitID: gives the id of the hit at a sequence; nil where there is none.
        func loss(
            in state: NATSStreamState, hitID: (UInt64) throws(NATSError) -> String?
        ) throws(NATSError) -> String? {
            guard state.created == self.created else { return "the stream was made anew" }
            guard state.lastSequence >= self.sequence else {
                return "the stream ends at \(state.lastSequence), but \(self.sequence) was acked"
            }
            guard state.firstSequence <= self.sequence, let found = try hitID(self.sequence),
                found != self.hitID
            else { return nil }
            return "the stream has \(found) at \(self.sequence), where \(self.hitID) was acked"
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
#endif
