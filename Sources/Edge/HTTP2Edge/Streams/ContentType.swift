internal import NIOHPACK

/// The header `content-type`. gRPC over HTTP/2 has servers take each one that begins with
/// "application/grpc". The library takes two values and answers all others with HTTP status 415
/// (grpc-swift-nio-transport 2.9.2), also these two with a parameter, such as a charset.
enum ContentType {
    private static let header = "content-type"
    private static let grpc = "application/grpc"
    /// Those of protobuf messages. Others, such as "application/grpc-web", stay for the library.
    private static let served = [Self.grpc, "application/grpc+proto"].map { Array($0.utf8) }

    /// Replaces the content type of protobuf messages, however it is written, by the plain one.
    static func normalize(_ headers: inout HPACKHeaders) {
        guard let value = headers.first(name: Self.header), value != Self.grpc,
            Self.served.contains(Self.mediaType(value))
        else { return }
        headers.replaceOrAdd(name: Self.header, value: Self.grpc)
    }

    /// The value in small letters, without parameters and the space before them.
    private static func mediaType(_ value: String) -> [UInt8] {
        var type = value.utf8.prefix(while: { $0 != UInt8(ascii: ";") })
        while type.last == UInt8(ascii: " ") || type.last == UInt8(ascii: "\t") {
            type.removeLast()
        }
        let capitals = UInt8(ascii: "A")...UInt8(ascii: "Z")
        return type.map { capitals.contains($0) ? $0 | 0x20 : $0 }
    }
}
