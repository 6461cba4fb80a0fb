internal import HTTPTypes
internal import NIOCore

extension DoorRequest {
    /// A request without its body. The codec of HTTP/1 has taken scheme and authority from a whole
    /// URI; a request of HTTP/2 may have `host` instead of an authority (RFC 9113, section 8.3.1).
    init(_ head: HTTPRequest, peer: DoorPeer) {
        let target = head.path ?? ""
        let mark = target.utf8.firstIndex(of: UInt8(ascii: "?"))
        self.init(
            method: head.method, path: String(target[..<(mark ?? target.endIndex)]),
            query: mark.map { String(target[target.utf8.index(after: $0)...]) },
            host: Self.name(in: head.authority ?? head.headerFields[named: "host"] ?? ""),
            headers: head.headerFields, peer: peer)
    }

    /// The name in an authority, without its port and the dot of the root, in lower case.
    static func name(in authority: String) -> String {
        let port = authority.utf8.reversed().prefix { (0x30...0x39).contains($0) }.count
        let host = authority.utf8.dropLast(port)
        var name = host.last == UInt8(ascii: ":") ? host.dropLast() : authority.utf8[...]
        if name.last == UInt8(ascii: ".") { name = name.dropLast() }
        return String(decoding: name.map(HostRule.lowercase), as: UTF8.self)
    }
}
