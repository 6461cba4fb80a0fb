// The limit on a call's metadata. The transport's own is 16 KiB and ends the connection; below it a
// client learns what is wrong.
internal import NIOHPACK

/// Finds calls whose metadata is too large, before anything looks into it. Not an interceptor: the
/// library keeps room for the frames of each as long as the call lives.
struct MetadataLimit {
    /// Bytes of all names and values.
    let maxBytes: Int

    /// What a call with these headers is refused with; nil where it is not.
    func refusal(of headers: HPACKHeaders) -> CallRefusal? {
        let bytes = Self.bytes(of: headers)
        return bytes <= self.maxBytes
            ? nil : .metadataTooLarge(bytes: bytes, maxBytes: self.maxBytes)
    }

    /// Bytes of the names and values as they are sent, binary ones in base64. What begins with a
    /// colon is HTTP's own (RFC 9113, 8.3), and no metadata.
    static func bytes(of headers: HPACKHeaders) -> Int {
        headers.reduce(into: 0) { total, header in
            guard header.name.utf8.first != UInt8(ascii: ":") else { return }
            total &+= header.name.utf8.count &+ header.value.utf8.count
        }
    }
}
