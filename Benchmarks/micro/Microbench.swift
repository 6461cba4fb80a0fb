// One piece of an event's way, so many times: `run` counts what it takes under valgrind, at two
// numbers of iterations, so that what the program needs besides cancels out.
internal import Foundation

/// The pieces.
enum Piece: String, CaseIterable {
    /// A request read, judged, keyed and laid out in the journal's form.
    case admission
    /// The same of received notifications.
    case impression
    /// The same of what a sender did with them.
    case send
    /// The key of an event's hits.
    case hitID = "hit_id"
    /// Accepted events of new facts settled, in a window with room.
    case windowNew = "window_new"
    /// Accepted events of facts that the window knows.
    case windowKnown = "window_known"
    /// Accepted events of new facts, each of which pushes an old one out.
    case windowFull = "window_full"
    /// A request appended to a journal on a file, sealed and committed.
    case journal
    /// A batch of hits inserted by the sqlite sink.
    case sink
    /// A batch of hits written as lines of JSON, to nowhere.
    case lines
}

/// `microbench PIECE ITERATIONS EVENTS DIRECTORY`: an iteration is a request of so many events.
@main
struct Microbench {
    let piece: Piece
    let iterations: Int
    let events: Int
    /// Where files go.
    let directory: String
    /// A full window is filled first, from the same pool.
    private static let maxIterations = RequestPool.count - RequestPool.settledBefore

    // Not async: an asynchronous main sleeps in sigsuspend with a constant mask, to which valgrind
    // 3.19 writes, and ends.
    static func main() throws {
        guard let bench = Microbench(CommandLine.arguments) else {
            let pieces = Piece.allCases.map(\.rawValue).joined(separator: "|")
            let usage = """
                usage: microbench \(pieces) ITERATIONS EVENTS DIRECTORY
                ITERATIONS is 0 to \(Self.maxIterations), EVENTS 1 to 1000

                """
            FileHandle.standardError.write(Data(usage.utf8))
            exit(64)
        }
        print("\(bench.piece.rawValue): \(try bench.run())")
    }

    init?(_ arguments: [String]) {
        guard arguments.count == 5, let piece = Piece(rawValue: arguments[1]),
            let iterations = Int(arguments[2]), let events = Int(arguments[3]),
            (0...Self.maxIterations).contains(iterations),
            (1...1000).contains(events)
        else { return nil }
        self.piece = piece
        self.iterations = iterations
        self.events = events
        self.directory = arguments[4]
    }

    /// Runs the piece; what it gives depends on the work, so that none of it can be left out.
    private func run() throws -> Int {
        let pool = RequestPool(events: self.events)
        switch self.piece {
        case .admission: return pool.admit(self.iterations)
        case .impression: return pool.admit(self.iterations, of: .received)
        case .send: return pool.admit(self.iterations, of: .sent)
        case .hitID: return try pool.makeKeys(self.iterations)
        case .windowNew: return pool.settleNew(self.iterations)
        case .windowKnown: return pool.settleKnown(self.iterations)
        case .windowFull: return pool.settleFull(self.iterations)
        case .journal: return try pool.append(self.iterations, in: self.directory)
        case .sink: return try pool.insert(self.iterations, in: self.directory)
        case .lines: return try pool.writeLines(self.iterations)
        }
    }
}
