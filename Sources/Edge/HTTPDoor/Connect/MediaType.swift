internal import HTTPTypes

/// The header `content-type` in small letters, without parameters.
struct MediaType: Equatable {
    /// `type/subtype`; empty without the header.
    let name: String

    /// The media type of a message.
    init(of headers: HTTPFields) {
        let value = headers.value(.contentType) ?? ""
        var type = value.utf8.prefix { $0 != UInt8(ascii: ";") }[...]
        let isSpace = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        while let last = type.last, isSpace(last) { type.removeLast() }
        self.name = String(
            decoding: type.map {
                (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0
            }, as: UTF8.self)
    }
}
