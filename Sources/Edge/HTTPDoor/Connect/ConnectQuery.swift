internal import GRPCCore
internal import HTTPTypes
internal import NIOCore
internal import WireFormat

/// The query of a call by GET: `?connect=v1&encoding=json&message=…&base64=1&compression=gzip`.
struct ConnectQuery {
    /// The maximum bytes of a query. Proxies and browsers take about as much.
    static let maxBytes = 8 << 10

    /// Its parameters; others are left alone, as proxies and caches add their own.
    private enum Name: String, CaseIterable {
        case connect, encoding, message, base64, compression
    }

    /// The codec's name; nil if none is named.
    let encoding: String?
    /// The message as sent, perhaps compressed.
    private let message: [UInt8]
    /// How the message is compressed; nil if it is not.
    let compression: String?

    /// Parses a query.
    init(_ text: String) throws(ConnectRefusal) {
        guard text.utf8.count <= Self.maxBytes else {
            throw .tooLarge("query", limit: Self.maxBytes, fix: "call by POST")
        }
        var values = [[UInt8]?](repeating: nil, count: Name.allCases.count)
        for part in text.utf8.split(separator: UInt8(ascii: "&")) {
            let name = part.prefix { $0 != UInt8(ascii: "=") }
            let index = Name.allCases.firstIndex { name.elementsEqual($0.rawValue.utf8) }
            guard let index else { continue }
            let word = Name.allCases[index].rawValue
            guard values[index] == nil else {
                throw .malformed("query", "\(word) stands in it twice: send it once")
            }
            guard let value = Self.decoded(part.dropFirst(name.count).dropFirst()) else {
                throw .malformed("query", "\(word) has a % without two hexadecimal digits")
            }
            values[index] = value
        }
        let texts = values.map { $0.map { String(decoding: $0, as: UTF8.self) } }
        guard texts[0] == nil || texts[0] == "v1" else {
            throw .malformed(
                "query", "connect=\(ConnectRefusal.shown(texts[0] ?? "")) is unknown: send v1")
        }
        guard let message = values[2] else {
            throw .malformed("query", "it has no message: send message=, in percent-encoding")
        }
        guard texts[3] == nil || texts[3] == "1" else {
            throw .malformed(
                "query",
                "base64=\(ConnectRefusal.shown(texts[3] ?? "")) is unknown: send 1, or leave it out"
            )
        }
        self.encoding = texts[1]
        self.compression = texts[4]
        guard texts[3] != nil else {
            self.message = message
            return
        }
        guard let bytes = Base64.decode(message) else {
            throw .malformed("query", "message is no base64")
        }
        self.message = bytes
    }

    /// The message, decompressed.
    func decoded(maxBytes: Int) throws(ConnectRefusal) -> ByteBuffer {
        try DoorBody.message(
            ByteBuffer(bytes: self.message), encoding: self.compression, maxBytes: maxBytes)
    }

    /// A value without its percent-encoding; nil if that is damaged.
    private static func decoded(_ text: some Sequence<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        var iterator = text.makeIterator()
        while let byte = iterator.next() {
            switch byte {
            case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                guard let high = iterator.next().flatMap(PercentEncoding.value(ofHex:)),
                    let low = iterator.next().flatMap(PercentEncoding.value(ofHex:))
                else { return nil }
                bytes.append(high << 4 | low)
            default: bytes.append(byte)
            }
        }
        return bytes
    }
}
