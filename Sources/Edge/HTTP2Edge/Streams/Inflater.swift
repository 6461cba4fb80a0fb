// The edge inflates requests instead of the gRPC library. In grpc-swift-nio-transport 2.9.2 a
// truncated gzip message makes an endless loop, so one small request would block an event loop with
// all of its connections.
internal import CInflate
package import NIOCore

/// Why bytes could not be inflated.
package enum InflateFailure: Error, Equatable {
    /// They would be more than the limit.
    case tooLarge
    /// A gRPC message's flag is neither 0 nor 1.
    case flag(UInt8)
    /// They are truncated or damaged, or others follow them.
    case malformed
}

/// Inflates bytes that are whole: messages of gRPC, and bodies of HTTP.
package final class Inflater {
    /// The initial capacity.
    private static let leastRoom = 256
    private static let mostFirstRoom = 4096

    private let maxBytes: Int
    private let isGzip: Bool
    private let state: OpaquePointer

    /// Creates an inflater of at most `maxBytes`; nil for an encoding other than gzip and deflate,
    /// or without memory.
    package init?(_ encoding: String, maxBytes: Int) {
        guard ["gzip", "deflate"].contains(encoding),
            let state = sightline_inflater_make(encoding == "gzip")
        else { return nil }
        self.maxBytes = maxBytes
        self.isGzip = encoding == "gzip"
        self.state = state
    }

    deinit { sightline_inflater_free(self.state) }

    /// Inflates all bytes, behind `prefix`.
    package func inflate(
        _ compressed: ByteBuffer, behind prefix: [UInt8] = []
    ) throws(InflateFailure) -> ByteBuffer {
        guard sightline_inflater_reset(self.state) else { throw .malformed }
        var compressed = compressed
        // A page per message would be far more than small messages need.
        let firstRoom = min(max(Self.leastRoom, 4 * compressed.readableBytes), Self.mostFirstRoom)
        var plain = ByteBuffer()
        plain.reserveCapacity(prefix.count + firstRoom)
        plain.writeBytes(prefix)
        var status = SIGHTLINE_INFLATE_NEEDS_ROOM
        // The loop ends: each step fills its room, and the total is bounded, or it takes a member
        // of at least 20 bytes (0.1 µs each, 5 ms for a message of 1 MiB).
        while status == SIGHTLINE_INFLATE_NEEDS_ROOM {
            // One byte beyond the limit distinguishes bytes that fit exactly.
            let inflatedBytes = plain.readableBytes - prefix.count
            let room = min(max(firstRoom, inflatedBytes), self.maxBytes + 1 - inflatedBytes)
            guard room > 0 else { throw .tooLarge }
            status = self.step(&compressed, into: &plain, room: room)
            // gzip may have several members (RFC 1952, section 2.2): their contents in a row.
            if status == SIGHTLINE_INFLATE_ENDED, self.isGzip, compressed.readableBytes > 0 {
                guard sightline_inflater_reset(self.state) else { throw .malformed }
                status = SIGHTLINE_INFLATE_NEEDS_ROOM
            }
        }
        guard status == SIGHTLINE_INFLATE_ENDED else { throw .malformed }
        guard plain.readableBytes - prefix.count <= self.maxBytes else { throw .tooLarge }
        guard compressed.readableBytes == 0 else { throw .malformed }
        return plain
    }

    /// Inflates up to `room` bytes.
    private func step(
        _ compressed: inout ByteBuffer, into plain: inout ByteBuffer, room: Int
    ) -> sightline_inflate_status {
        var status = SIGHTLINE_INFLATE_FAILED
        compressed.readWithUnsafeReadableBytes { input in
            var taken = 0
            plain.writeWithUnsafeMutableBytes(minimumWritableBytes: room) { output in
                var written = 0
                status = sightline_inflater_step(
                    self.state, input.bindMemory(to: UInt8.self).baseAddress, input.count,
                    output.bindMemory(to: UInt8.self).baseAddress, room, &taken, &written)
                return written
            }
            return taken
        }
        return status
    }
}
