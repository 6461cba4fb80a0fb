internal import Pacing
package import SinkKit

/// Erases subjects in a directory of the jsonl sink: its own, between two deliveries, or one that a
/// sink of an earlier configuration has left.
package actor JSONLinesEraser {
    /// Reading files blocks.
    private let executor = QueueExecutor(label: "sightline.sink.jsonl")
    /// A queue of its own.
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        self.executor.asUnownedSerialExecutor()
    }
    private let directory: JSONLinesDirectory

    /// Erases in a directory that is there.
    package init(directory: String) { self.directory = JSONLinesDirectory(at: directory) }

    /// Overwrites a subject's id in the files of plain lines. Compressed ones stay as they are.
    package func erase(_ subject: Subject) -> ErasurePiece {
        do {
            return self.next(try LinesErasure(of: subject, in: self.directory))
        } catch {
            return self.failure(error)
        }
    }

    private func next(_ erasure: LinesErasure) -> ErasurePiece {
        var erasure = erasure
        do {
            if let result = try erasure.next() { return .last(result) }
            return .followed { [erasure] in await self.next(erasure) }
        } catch {
            return self.failure(error)
        }
    }

    private func failure(_ error: any Error) -> ErasurePiece {
        .last(.failed("\(self.directory.path): \(error)"))
    }
}
