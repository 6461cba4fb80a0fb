/// How far a sink has come in the journal, as a checkpoint stores it.
struct SinkCursor: Equatable {
    /// The newest batch that the sink has confirmed.
    var sequence: Int64 = 0
    /// Where the sink's backend stored it, in the sink's own format; empty if the sink reports
    /// none.
    var resumeToken = ""
}
