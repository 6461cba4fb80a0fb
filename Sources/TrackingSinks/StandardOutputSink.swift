// The sink for pipes: one line per hit on standard output.

/// Writes every hit as a line of JSON to standard output, or to another open file.
package actor StandardOutputSink: Sink {
    /// "stdout".
    package nonisolated let name = "stdout"
    /// Writing blocks.
    private let executor = SinkExecutor("stdout")
    /// A queue of its own.
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        self.executor.asUnownedSerialExecutor()
    }
    private let descriptor: CInt

    /// A sink that writes to an open file; standard output by default.
    package init(descriptor: Int32 = 1) { self.descriptor = descriptor }

    /// Writes the batch's lines; unavailable where the reader has gone.
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
