internal import Foundation
internal import GRPCCore
internal import GRPCProtobuf
internal import NIOCore
internal import WireFormat

/// An error in Connect's JSON: `{"code", "message", "details"}`.
struct ConnectErrorBody: Encodable {
    /// A detail: its bytes, and as far as we know its type what stands in it.
    struct Detail: Encodable {
        let type: String
        /// In base64 without padding.
        let value: String
        let debug: ErrorDetail?
    }

    let code: String
    let message: String
    let details: [Detail]

    /// The error of a call that failed.
    init(_ answer: DoorAnswer) {
        self.code = ConnectCode.of(answer.status.code).name
        self.message = answer.status.message
        var details: [Detail] = []
        for bytes in answer.metadata[binaryValues: DoorAnswer.detailsKey] {
            details += Self.details(in: bytes)
        }
        self.details = details
    }

    /// The body of an answer.
    var bytes: ByteBuffer { Self.encoded(self) }

    /// The last envelope's content of a stream that ends with this error.
    var endOfStream: ByteBuffer { Self.encoded(["error": self]) }

    private static func encoded(_ value: some Encodable) -> ByteBuffer {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // It has texts and lists alone, which are always written.
        return ByteBuffer(bytes: (try? encoder.encode(value)) ?? Data("{}".utf8))
    }

    /// The details of an encoded google.rpc.Status. The library's type of it gives no bytes of a
    /// detail that it knows.
    private static func details(in status: [UInt8]) -> [Detail] {
        let known = (try? GoogleRPCStatus(serializedBytes: status).details) ?? []
        var details: [Detail] = []
        status.withUnsafeBytes { bytes in
            var reader = WireReader(bytes)
            // Our own services wrote it; what cannot be read would merely not be shown.
            while let tag = try? reader.nextTag() {
                guard tag == Self.detailsTag else {
                    guard (try? reader.skip(tag)) != nil else { return }
                    continue
                }
                guard var any = try? reader.message(), let (type, value) = Self.any(&any)
                else { return }
                let index = details.count
                details.append(
                    Detail(
                        type: type,
                        value: String(
                            decoding: Base64.encode(value, isPadded: false), as: UTF8.self),
                        debug: index < known.count ? ErrorDetail(known[index]) : nil))
            }
        }
        return details
    }

    /// Fields of google.rpc.Status and of google.protobuf.Any: number times 8, plus the wire type.
    private static let (detailsTag, typeTag, valueTag) = (UInt32(26), UInt32(10), UInt32(18))

    /// The type's name without its prefix, and the message's bytes.
    private static func any(_ reader: inout WireReader) -> (type: String, value: [UInt8])? {
        var (type, value) = ("", [UInt8]())
        do {
            while let tag = try reader.nextTag() {
                switch tag {
                case Self.typeTag: type = String(decoding: try reader.string(), as: UTF8.self)
                case Self.valueTag: value = [UInt8](try reader.slice())
                default: try reader.skip(tag)
                }
            }
        } catch { return nil }
        return (type.split(separator: "/").last.map(String.init) ?? type, value)
    }
}

extension DoorAnswer {
    /// The key of an encoded google.rpc.Status in a call's trailing metadata.
    static let detailsKey = "grpc-status-details-bin"
}
