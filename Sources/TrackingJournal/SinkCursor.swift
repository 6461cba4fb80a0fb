// How far a sink has come in the journal.

/// A sink's cursor, as a checkpoint holds it.
struct SinkCursor: Equatable {
    /// The newest batch that the sink has.
    var sequence: Int64 = 0
    /// Where the sink keeps it, in the sink's own words; empty where it says nothing.
    var place = ""
}
