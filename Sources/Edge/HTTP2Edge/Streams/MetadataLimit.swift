internal import NIOHPACK

/// Refuses calls with too much metadata, or with text in it that costs too much to compare. The
/// transport's limit of 16 KiB ends the whole connection; a lower one ends only the call, with a
/// reason. An interceptor would keep memory for its frames as long as each call lives.
struct MetadataLimit {
    /// The maximum bytes of all names and values.
    let maxBytes: Int

    /// Why a call with these headers is refused; nil if it is not.
    func refusal(of headers: HPACKHeaders) -> CallRefusal? {
        let bytes = Self.bytes(of: headers)
        guard bytes <= self.maxBytes else {
            return .metadataTooLarge(bytes: bytes, maxBytes: self.maxBytes)
        }
        return headers.first { !HeaderText.isFit($0.value) }.map { .metadataText($0.name) }
    }

    /// The bytes of names and values as sent, binary ones in base64. Pseudo-headers, which begin
    /// with a colon (RFC 9113, 8.3), are not metadata.
    static func bytes(of headers: HPACKHeaders) -> Int {
        headers.reduce(into: 0) { total, header in
            guard header.name.utf8.first != UInt8(ascii: ":") else { return }
            total &+= header.name.utf8.count &+ header.value.utf8.count
        }
    }
}
