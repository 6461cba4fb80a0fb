internal import HTTPTypes
internal import NIOCore

extension DoorRequest {
    /// A request without its body.
    init(_ head: HTTPRequest, peer: DoorPeer) {
        let target = Self.origin(of: head.path ?? "")
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        self.init(
            method: head.method, path: String(parts[0]),
            query: parts.count > 1 ? String(parts[1]) : nil,
            host: Self.name(in: head.authority ?? ""), headers: head.headerFields, peer: peer)
    }

    /// A target without scheme and authority.
    private static func origin(of target: String) -> Substring {
        guard target.utf8.first != UInt8(ascii: "/"), let scheme = target.firstRange(of: "://")
        else { return target[...] }
        let rest = target[scheme.upperBound...]
        return rest.firstIndex { $0 == "/" || $0 == "?" }.map { rest[$0...] } ?? "/"
    }

    /// The name in an authority, without its port, in lower case.
    static func name(in authority: String) -> String {
        let port = authority.utf8.reversed().prefix { (0x30...0x39).contains($0) }.count
        let host = authority.utf8.dropLast(port)
        let name = host.last == UInt8(ascii: ":") ? host.dropLast() : authority.utf8[...]
        return String(decoding: name, as: UTF8.self).lowercased()
    }
}
