// Decompression of requests, in front of the gRPC library and instead of its own. Seen in
// grpc-swift-nio-transport 2.9.2: a gzip message that breaks off makes its loop go round for ever,
// so one small request would take an event loop and all of its connections.
internal import CInflate
internal import NIOCore

/// Why a message ends its call.
enum InflateFailure: Error {
    case tooLarge
    case malformed
}

/// Takes the messages of one call apart: what comes in is as the client sent it, what comes out are
/// the same messages, plain.
final class MessageInflater {
    /// The flag and the length in front of each message.
    private static let prefixBytes = 5
    /// Room for what comes out of a message, at first.
    private static let leastRoom = 256
    private static let mostFirstRoom = 4096

    private let maxBytes: Int
    private let inflater: OpaquePointer
    private var pending = ByteBuffer()
    /// Messages that were taken.
    private(set) var count = 0
    /// Whether more bytes are needed for the next message, of which some are here.
    private(set) var isStarved = false

    /// An inflater of an encoding; nil where it is none of those, or there is no memory.
    init?(_ encoding: String, maxBytes: Int) {
        guard ["gzip", "deflate"].contains(encoding),
            let inflater = sightline_inflater_make(encoding == "gzip")
        else { return nil }
        self.maxBytes = maxBytes
        self.inflater = inflater
    }

    deinit { sightline_inflater_free(self.inflater) }

    /// Bytes that have come and belong to messages that have not been taken.
    var pendingBytes: Int { self.pending.readableBytes }
    /// Whether the bytes of a message have begun and not ended.
    var hasRest: Bool { self.pendingBytes > 0 }

    /// Takes bytes in.
    func append(_ bytes: ByteBuffer) {
        guard self.hasRest else {
            self.pending = bytes
            return
        }
        // What has been read goes once it is the larger part: each byte is moved about once.
        if self.pending.readerIndex > self.pending.readableBytes { self.pending.discardReadBytes() }
        self.pending.writeImmutableBuffer(bytes)
    }

    /// The next whole message with its prefix, plain; nil where more bytes are needed. Costs what
    /// that message takes, however much else is pending.
    func next() throws(InflateFailure) -> ByteBuffer? {
        self.isStarved = self.hasRest
        let start = self.pending.readerIndex
        guard let flag = self.pending.getInteger(at: start, as: UInt8.self),
            let length = self.pending.getInteger(at: start + 1, as: UInt32.self)
        else { return nil }
        guard length <= self.maxBytes else { throw .tooLarge }
        let count = Self.prefixBytes + Int(length)
        guard var message = self.pending.readSlice(length: count) else { return nil }
        self.isStarved = false
        self.count &+= 1
        switch flag {
        case 0: return message
        case 1:
            message.moveReaderIndex(forwardBy: Self.prefixBytes)
            return try self.inflated(&message)
        default: throw .malformed
        }
    }

    private func inflated(_ message: inout ByteBuffer) throws(InflateFailure) -> ByteBuffer {
        guard sightline_inflater_reset(self.inflater) else { throw .malformed }
        // Small messages are many: a page for each would be far more than they take.
        let firstRoom = min(max(Self.leastRoom, 4 * message.readableBytes), Self.mostFirstRoom)
        var plain = ByteBuffer()
        plain.reserveCapacity(Self.prefixBytes + firstRoom)
        plain.writeInteger(UInt8(0))
        plain.writeInteger(UInt32(0))
        var status = SIGHTLINE_INFLATE_NEEDS_ROOM
        // Each step fills all of its room, and the room is bounded: so this ends.
        while status == SIGHTLINE_INFLATE_NEEDS_ROOM {
            // One byte beyond the limit tells what fits exactly from what does not.
            let inflatedBytes = plain.readableBytes - Self.prefixBytes
            let room = min(max(firstRoom, inflatedBytes), self.maxBytes + 1 - inflatedBytes)
            guard room > 0 else { throw .tooLarge }
            status = self.step(&message, into: &plain, room: room)
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
