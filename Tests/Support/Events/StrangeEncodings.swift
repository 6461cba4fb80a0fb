/// What SwiftProtobuf reads and other parsers do not.
package enum StrangeEncodings {
    /// Whether an event, or a request with events, may have a varint of more than 64 bits or a map
    /// entry's tag of more than five bytes, which both begin with five bytes or more of which each
    /// has its highest bit; or has a field with another wire type than its own,
    /// or bytes that are no text.
    package static func mayBe(in bytes: some Sequence<UInt8>) -> Bool {
        var length = 0
        for byte in bytes {
            length = byte < 0x80 ? 0 : length + 1
            if length == 5 { return true }
        }
        let requests = [1, 2].map { [SchemaField($0, .message(EventSchema.event))] }
        return ([EventSchema.event] + requests).contains {
            self.hasStrangeField(Array(bytes)[...], $0)
        }
    }

    private static func hasStrangeField(
        _ bytes: ArraySlice<UInt8>, _ fields: [SchemaField]
    ) -> Bool {
        var rest = bytes
        while let (tag, body) = self.nextField(&rest) {
            guard let form = fields.first(where: { $0.number == tag >> 3 })?.form else { continue }
            if tag & 7 != UInt64(form.wireType) { return true }
            switch form {
            case .message(let fields) where self.hasStrangeField(body, fields): return true
            case .map where self.hasStrangeField(body, self.mapEntry): return true
            case .bytes where String(validating: body, as: UTF8.self) == nil: return true
            default: continue
            }
        }
        return false
    }

    private static let mapEntry = [SchemaField(1, .string), SchemaField(2, .string)]

    /// The next field's tag, and its bytes if they have a length; nil at the end, and where nothing
    /// can be read. The fields of a group follow it.
    private static func nextField(
        _ rest: inout ArraySlice<UInt8>
    ) -> (tag: UInt64, body: ArraySlice<UInt8>)? {
        guard let tag = self.varint(&rest) else { return nil }
        switch tag & 7 {
        case 0: _ = self.varint(&rest)
        case 1: rest = rest.dropFirst(8)
        case 2:
            guard let count = self.varint(&rest), count <= UInt64(rest.count) else { return nil }
            defer { rest = rest.dropFirst(Int(count)) }
            return (tag, rest.prefix(Int(count)))
        case 5: rest = rest.dropFirst(4)
        default: break
        }
        return (tag, [])
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
