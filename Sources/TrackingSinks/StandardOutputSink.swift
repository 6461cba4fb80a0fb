package import TrackingCore

/// Writes every hit as a line of JSON to standard output, or to another open file descriptor.
package actor StandardOutputSink: Sink {
    /// The sink's name, "stdout".
    package nonisolated let name = "stdout"
    /// A reader sees whole deliveries: small ones come sooner.
    package nonisolated let maxBatch = BatchLimit(hits: 5000, bytes: 1 << 20)
    /// Runs the actor on a queue of its own, because writes block.
    private let executor = SinkExecutor("stdout")
    /// The sink's own queue.
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        self.executor.asUnownedSerialExecutor()
    }
    private let descriptor: CInt
    private var lines: JSONLines

    /// Creates a sink that writes to `descriptor`, by default standard output.
    ///
    /// - Throws: `BinaryDecodingError` if the committed descriptor set is damaged.
    package init(descriptor: Int32 = 1) throws {
        self.descriptor = descriptor
        self.lines = try JSONLines()
    }

    /// Writes the batch's lines; unavailable if the reader has closed the pipe.
    package func deliver(_ hits: HitBatch) async -> SinkAnswer {
        do {
            let rejected = try self.lines.encode(hits)
            try FileWriter.write(self.lines.bytes, to: self.descriptor)
            return SinkAnswer(rejected: rejected)
        } catch {
            return SinkAnswer(failure: error)
        }
    }

    /// Printed lines are out of reach.
    package func erase(_ subject: Subject) async -> Erasure {
        .impossible("whoever reads the lines has them: delete them there")
    }
}
