/// What SwiftProtobuf reads and other parsers do not.
package enum StrangeEncodings {
    /// Whether an event, or a request with events, may have a varint of more than 64 bits or a map
    /// entry's tag of more than five bytes, which both begin with five bytes or more of which each
    /// has its highest bit; or has a map entry whose key or value is no text.
    package static func mayBe(in bytes: some Sequence<UInt8>) -> Bool {
        var length = 0
        for byte in bytes {
            length = byte < 0x80 ? 0 : length + 1
            if length == 5 { return true }
        }
        let requests = [1, 2].map { [SchemaField($0, .message(EventSchema.event))] }
        return ([EventSchema.event] + requests).contains {
            self.hasStrangeEntry(Array(bytes)[...], $0)
        }
    }

    private static func hasStrangeEntry(
        _ bytes: ArraySlice<UInt8>, _ fields: [SchemaField]
    ) -> Bool {
        var rest = bytes
        while let (number, body) = self.nextField(&rest) {
            guard let body else { continue }
            switch fields.first(where: { $0.number == number })?.form {
            case .message(let fields) where self.hasStrangeEntry(body, fields): return true
            case .map where self.isStrange(entry: body): return true
            default: continue
            }
        }
        return false
    }

    private static func isStrange(entry: ArraySlice<UInt8>) -> Bool {
        var rest = entry
        while let (number, body) = self.nextField(&rest) {
            if body == nil, number == 1 || number == 2 { return true }
        }
        return false
    }

    /// The next field's number, and its bytes unless it is of another wire type; nil at the end,
    /// and where nothing can be read. The fields of a group follow it.
    private static func nextField(
        _ rest: inout ArraySlice<UInt8>
    ) -> (number: UInt64, body: ArraySlice<UInt8>?)? {
        guard let tag = self.varint(&rest) else { return nil }
        switch tag & 7 {
        case 0: _ = self.varint(&rest)
        case 1: rest = rest.dropFirst(8)
        case 2:
            guard let count = self.varint(&rest), count <= UInt64(rest.count) else { return nil }
            defer { rest = rest.dropFirst(Int(count)) }
            return (tag >> 3, rest.prefix(Int(count)))
        case 5: rest = rest.dropFirst(4)
        default: break
        }
        return (tag >> 3, nil)
    }

    private static func varint(_ rest: inout ArraySlice<UInt8>) -> UInt64? {
        var (value, shift): (UInt64, UInt64) = (0, 0)
        while let byte = rest.popFirst(), shift < 64 {
            value |= UInt64(byte & 0x7f) << shift
            if byte < 0x80 { return value }
            shift += 7
        }
        return nil
    }
}
