internal import Glibc
internal import Pacing
package import SinkKit
package import TrackingRules
internal import WireFormat

/// Writes every hit as a line of JSON to standard output, or to another open file descriptor.
package actor StandardOutputSink: ErasableSink {
    /// The sink's name, "stdout".
    package nonisolated let name = "stdout"
    /// A reader sees whole deliveries: small ones come sooner.
    package nonisolated let maxBatch = BatchLimit(hits: 5000, bytes: 1 << 20)
    /// Runs the actor on a queue of its own, because writes block.
    private let executor = QueueExecutor(label: "sightline.sink.stdout")
    /// The sink's own queue.
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        self.executor.asUnownedSerialExecutor()
    }
    /// How long its reader may still take when the server stops.
    private static let grace = Duration.seconds(4)
    private let descriptor: CInt
    private var lines: JSONLines

    /// Creates a sink that writes to `descriptor`, by default standard output.
    ///
    /// - Throws: `BinaryDecodingError` if the committed descriptor set is damaged.
    package init(descriptor: Int32 = 1) throws {
        self.descriptor = descriptor
        self.lines = try JSONLines()
    }

    /// Writes the batch's lines; unavailable if the reader has closed the pipe, or reads no more
    /// 4 s after the server began to stop. One that reads gets the whole batch.
    package func deliver(_ hits: HitBatch) async -> SinkAnswer {
        await DeliveryDeadline.during(grace: Self.grace) { deadline in
            self.write(hits, until: deadline)
        }
    }

    private func write(_ hits: HitBatch, until deadline: DeliveryDeadline) -> SinkAnswer {
        do {
            let rejected = try self.lines.encode(hits)
            var rest = self.lines.bytes[...]
            while !rest.isEmpty {
                guard try self.hasRoom() else {
                    if !deadline.hasPassed { continue }
                    return .unavailable(reason: "nobody reads standard output: see to its reader")
                }
                let piece = Self.firstPiece(of: rest)
                try FileWriter.write(Bytes(rebasing: piece), to: self.descriptor)
                rest = rest[piece.endIndex...]
            }
            return SinkAnswer(rejected: rejected)
        } catch {
            return SinkAnswer(failure: error)
        }
    }

    /// As many lines as fit into `PIPE_BUF`, or that much of a longer one. A pipe that has room
    /// takes such a piece whole, without blocking (POSIX, `write`). A terminal may still block.
    private static func firstPiece(of lines: Slice<Bytes>) -> Slice<Bytes> {
        let piece = Bytes(rebasing: lines.prefix(Int(PIPE_BUF)))
        guard let start = piece.baseAddress else { return lines.prefix(0) }
        var count = 0
        // By the C library: a loop over the bytes took a fifth of what a line costs.
        while let newline = memchr(start + count, CInt(UInt8(ascii: "\n")), piece.count - count) {
            count = UnsafeRawPointer(newline) - start + 1
        }
        return lines.prefix(count > 0 ? count : piece.count)
    }

    /// Waits for room for a tenth of a second at most. Also true if the reader is gone, which the
    /// write then tells.
    private func hasRoom() throws(WriteError) -> Bool {
        var polled = pollfd(fd: self.descriptor, events: Int16(POLLOUT), revents: 0)
        let count = poll(&polled, 1, 100)
        if count < 0 && errno != EINTR { throw WriteError(number: errno, action: "wait") }
        return count > 0
    }

    /// Printed lines are out of reach.
    package func erase(_ subject: Subject) async -> ErasurePiece {
        .last(.impossible("whoever reads the lines has them: delete them there"))
    }
}
