// The edge inflates requests instead of the gRPC library. In grpc-swift-nio-transport 2.9.2 a
// truncated gzip message makes an endless loop, so one small request would block an event loop with
// all of its connections.
internal import CInflate
internal import NIOCore

/// Why a message could not be inflated.
enum InflateFailure: Error, Equatable {
    case tooLarge
    /// Its flag is neither 0 nor 1.
    case flag(UInt8)
    case malformed
}

/// Inflates the messages of one call; they keep their gRPC framing.
final class MessageInflater {
    private static let prefixBytes = 5
    /// The initial capacity for an inflated message.
    private static let leastRoom = 256
    private static let mostFirstRoom = 4096

    private let maxBytes: Int
    private let isGzip: Bool
    private let inflater: OpaquePointer
    private var pending = ByteBuffer()

    /// Creates an inflater; nil for an unsupported encoding or without memory.
    init?(_ encoding: String, maxBytes: Int) {
        guard ["gzip", "deflate"].contains(encoding),
            let inflater = sightline_inflater_make(encoding == "gzip")
        else { return nil }
        self.maxBytes = maxBytes
        self.isGzip = encoding == "gzip"
        self.inflater = inflater
    }

    deinit { sightline_inflater_free(self.inflater) }

    /// The received bytes of messages that are not inflated yet.
    var pendingBytes: Int { self.pending.readableBytes }
    /// Whether bytes of an incomplete message are pending.
    var hasRest: Bool { self.pendingBytes > 0 }

    /// Appends received bytes.
    func append(_ bytes: ByteBuffer) {
        guard self.hasRest else {
            self.pending = bytes
            return
        }
        // Discard read bytes only once they exceed the rest: each byte moves about once.
        if self.pending.readerIndex > self.pending.readableBytes { self.pending.discardReadBytes() }
        self.pending.writeImmutableBuffer(bytes)
    }

    /// The next message, inflated and with its prefix; nil if it is incomplete. The cost depends on
    /// this message only, not on the pending bytes.
    func next() throws(InflateFailure) -> ByteBuffer? {
        let start = self.pending.readerIndex
        guard let flag = self.pending.getInteger(at: start, as: UInt8.self),
            let length = self.pending.getInteger(at: start + 1, as: UInt32.self)
        else { return nil }
        guard length <= self.maxBytes else { throw .tooLarge }
        let count = Self.prefixBytes + Int(length)
        guard var message = self.pending.readSlice(length: count) else { return nil }
        switch flag {
        case 0: return message
        case 1:
            message.moveReaderIndex(forwardBy: Self.prefixBytes)
            return try self.inflated(&message)
        default: throw .flag(flag)
        }
    }

    private func inflated(_ message: inout ByteBuffer) throws(InflateFailure) -> ByteBuffer {
        guard sightline_inflater_reset(self.inflater) else { throw .malformed }
        // A page per message would be far more than small messages need.
        let firstRoom = min(max(Self.leastRoom, 4 * message.readableBytes), Self.mostFirstRoom)
        var plain = ByteBuffer()
        plain.reserveCapacity(Self.prefixBytes + firstRoom)
        plain.writeInteger(UInt8(0))
        plain.writeInteger(UInt32(0))
        var status = SIGHTLINE_INFLATE_NEEDS_ROOM
        // The loop ends: each step fills its room, and the total is bounded, or it takes a member
        // of at least 20 bytes (0.1 µs each, 5 ms for a message of 1 MiB).
        while status == SIGHTLINE_INFLATE_NEEDS_ROOM {
            // One byte beyond the limit distinguishes a message that fits exactly.
            let inflatedBytes = plain.readableBytes - Self.prefixBytes
            let room = min(max(firstRoom, inflatedBytes), self.maxBytes + 1 - inflatedBytes)
            guard room > 0 else { throw .tooLarge }
            status = self.step(&message, into: &plain, room: room)
            // gzip may have several members (RFC 1952, section 2.2): their contents in a row.
            if status == SIGHTLINE_INFLATE_ENDED, self.isGzip, message.readableBytes > 0 {
                guard sightline_inflater_reset(self.inflater) else { throw .malformed }
                status = SIGHTLINE_INFLATE_NEEDS_ROOM
            }
        }
        guard status == SIGHTLINE_INFLATE_ENDED else { throw .malformed }
        let length = plain.readableBytes - Self.prefixBytes
        guard length <= self.maxBytes else { throw .tooLarge }
        guard message.readableBytes == 0 else { throw .malformed }
        plain.setInteger(UInt32(length), at: plain.readerIndex + 1)
        return plain
    }

    /// Inflates up to `room` bytes.
    private func step(
        _ message: inout ByteBuffer, into plain: inout ByteBuffer, room: Int
    ) -> sightline_inflate_status {
        var status = SIGHTLINE_INFLATE_FAILED
        message.readWithUnsafeReadableBytes { input in
            var taken = 0
            plain.writeWithUnsafeMutableBytes(minimumWritableBytes: room) { output in
                var written = 0
                status = sightline_inflater_step(
                    self.inflater, input.bindMemory(to: UInt8.self).baseAddress, input.count,
                    output.bindMemory(to: UInt8.self).baseAddress, room, &taken, &written)
                return written
            }
            return taken
        }
        return status
    }
}
