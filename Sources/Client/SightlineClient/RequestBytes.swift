package import GRPCCore

/// Encodes requests from encoded events. No event is encoded again: a repeated field is the
/// concatenation of its elements.
package enum RequestBytes {
    private static let sequenceTag: UInt8 = 1 << 3
    private static let eventTag: UInt8 = 2 << 3 | 2
    /// `options { report_accepted: true }`.
    private static let reportAccepted: [UInt8] = [3 << 3 | 2, 2, 1 << 3, 1]

    /// A `StreamEventsRequest`.
    package static func encoded(_ request: OutboxRequest, reportsAccepted: Bool) -> [UInt8] {
        let byteCount = request.byteCount
        return [UInt8](unsafeUninitializedCapacity: byteCount) { buffer, count in
            var writer = Writer(buffer: buffer)
            writer.append(Self.sequenceTag)
            writer.append(varint: request.sequence)
            for ticket in request.tickets {
                writer.append(Self.eventTag)
                writer.append(varint: UInt64(ticket.bytes.count))
                writer.append(ticket.bytes)
            }
            if request.isFirst, reportsAccepted { writer.append(Self.reportAccepted) }
            count = writer.count
        }
    }

    /// The length of a number as a varint.
    static func varintByteCount(_ value: Int) -> Int {
        // 7 bits a byte, and one byte for 0.
        (Int.bitWidth - (value | 1).leadingZeroBitCount + 6) / 7
    }

    private struct Writer {
        let buffer: UnsafeMutableBufferPointer<UInt8>
        var count = 0

        mutating func append(_ byte: UInt8) {
            self.buffer[self.count] = byte
            self.count += 1
        }

        mutating func append(varint value: UInt64) {
            var rest = value
            while rest >= 0x80 {
                self.append(UInt8(truncatingIfNeeded: rest) | 0x80)
                rest >>= 7
            }
            self.append(UInt8(rest))
        }

        mutating func append(_ bytes: [UInt8]) {
            let end = self.buffer[self.count...].update(fromContentsOf: bytes)
            self.count = end
        }
    }
}

/// Passes encoded requests through unchanged.
package struct RequestSerializer: MessageSerializer {
    /// Creates a serializer; it has no state.
    package init() {}

    /// The same bytes.
    package func serialize<Bytes: GRPCContiguousBytes>(_ message: [UInt8]) -> Bytes {
        Bytes(message)
    }
}
