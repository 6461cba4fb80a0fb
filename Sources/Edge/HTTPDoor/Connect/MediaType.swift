internal import HTTPTypes

/// The header `content-type` in small letters, without parameters.
struct MediaType: Equatable {
    /// `type/subtype`; empty without the header.
    let name: String

    /// The media type of a message.
    init(of headers: HTTPFields) {
        let value = headers.value(.contentType) ?? ""
        if value.utf8.allSatisfy(Self.isPlain) {
            self.name = value
            return
        }
        var type = value.utf8.prefix { $0 != UInt8(ascii: ";") }[...]
        let isSpace = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        while let last = type.last, isSpace(last) { type.removeLast() }
        self.name = String(
            decoding: type.map {
                (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0
            }, as: UTF8.self)
    }

    /// Whether a byte is neither white space, nor a capital, nor the beginning of parameters.
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: ";"): false
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): false
        default: true
        }
    }
}
