package import Delivery

/// An operator's commands for the sinks of a running server.
package protocol SinkOperator: Sendable {
    /// The sinks, in the order of the configuration.
    var states: [SinkState] { get }
    /// The names of sinks that the journal remembers but that are no longer configured.
    var formerSinks: [String] { get }

    /// Deletes a former sink's cursor: a new sink of its name starts afresh.
    ///
    /// - Throws: `SinkOperationError`.
    func forget(_ name: String) async throws

    /// Delivers the dead letters of one sink to a sink, which may be the same.
    ///
    /// - Parameter limit: the maximum number of letters, oldest first.
    /// - Throws: `SinkOperationError`, `ReplayInterruption`, or SQLite's error.
    func replayLetters(
        to sink: String, refusedBy refuser: String, limit: Int
    ) async throws -> Replay.Counts

    /// Delivers the hits that are kept since a time to a sink again.
    ///
    /// - Parameter since: microseconds since 1970.
    /// - Throws: `SinkOperationError`, `HitReplayInterruption`, or SQLite's error.
    func replayHits(to sink: String, since: Int64) async throws -> HitReplay.Counts

    /// Delivers the hits in a file of the sink jsonl to a sink.
    ///
    /// - Parameter path: absolute.
    /// - Throws: `SinkOperationError`, `HitReplayInterruption`, or an error of the file.
    func replayFile(_ path: String, to sink: String) async throws -> HitReplay.Counts
}

/// Why an operation cannot begin.
package enum SinkOperationError: Error, CustomStringConvertible {
    /// There is no sink with that name.
    case unknownSink(String, known: [String])
    /// There is no former sink with that name.
    case unknownFormerSink(String, known: [String])
    /// The sink is configured, or its last delivery has not ended yet.
    case inUse(String)
    /// Another replay is under way.
    case busy

    /// What happened, and the fix.
    package var description: String {
        switch self {
        case .unknownSink(let name, let known):
            "there is no sink \"\(name)\"; there are: \(known.joined(separator: ", "))"
        case .unknownFormerSink(let name, let known):
            "there is no former sink \"\(name)\"; there are: "
                + (known.isEmpty ? "none" : known.joined(separator: ", "))
        case .inUse(let name):
            "the sink \"\(name)\" is in use: take it out of sinks and reload, then forget it"
        case .busy: "another replay is under way: wait for its end"
        }
    }
}

extension SinkOperator {
    /// The sink with a name.
    ///
    /// - Throws: `SinkOperationError.unknownSink`.
    func state(_ name: String) throws(SinkOperationError) -> SinkState {
        if let state = self.states.first(where: { $0.name == name }) { return state }
        throw .unknownSink(name, known: self.states.map(\.name))
    }
}
