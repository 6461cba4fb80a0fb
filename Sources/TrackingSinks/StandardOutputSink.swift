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

    /// Creates a sink that writes to `descriptor`, by default standard output.
    package init(descriptor: Int32 = 1) { self.descriptor = descriptor }

    /// Writes the batch's lines; unavailable if the reader has closed the pipe.
    package func deliver(_ hits: HitBatch) async -> SinkAnswer {
        do {
            let (lines, rejected) = try JSONLines.encode(hits)
            try FileWriter.write(lines, to: self.descriptor)
            return SinkAnswer(rejected: rejected)
        } catch {
            return SinkAnswer(failure: error)
        }
    }
}
