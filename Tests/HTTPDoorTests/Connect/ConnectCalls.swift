// Calls that a test answers, and requests as clients of Connect and gRPC-Web send them.
internal import Foundation
internal import GRPCCore
internal import GRPCProtobuf
@testable internal import HTTPDoor
internal import HTTPTypes
internal import NIOCore
internal import SightlineProtos
internal import SwiftProtobuf
internal import Synchronization

/// Serves calls by a closure, and keeps them.
final class ConnectCalls: CallServing {
    private let served = Mutex<[DoorCall]>([])
    private let answer: @Sendable (DoorCall) -> DoorAnswer
    /// What all credentials come to; nil: they are taken.
    let refusal = Mutex<DoorAnswer?>(nil)

    init(_ answer: @escaping @Sendable (DoorCall) -> DoorAnswer) { self.answer = answer }

    /// Answers each call with a message.
    convenience init(_ message: some Message) throws {
        let bytes: [UInt8] = try message.serializedBytes()
        self.init { _ in
            DoorAnswer(
                message: ByteBuffer(bytes: bytes), status: Status(code: .ok, message: ""))
        }
    }

    /// Fails each call as a service would.
    convenience init(_ error: GoogleRPCStatus) {
        self.init { _ in
            DoorAnswer(
                message: nil,
                status: Status(code: Status.Code(error.code), message: error.message),
                metadata: error.rpcErrorMetadata)
        }
    }

    var calls: [DoorCall] { self.served.withLock { $0 } }

    func refusal(of metadata: Metadata, from peer: DoorPeer) -> DoorAnswer? {
        self.refusal.withLock { $0 }
    }

    func serve(_ call: DoorCall) async -> DoorAnswer {
        self.served.withLock { $0.append(call) }
        return self.answer(call)
    }
}

/// Paths, requests and what they ask for.
enum Sent {
    static let explain = "/sightline.v1.TrackingService/ExplainDelivery"
    static let record = "/sightline.v1.TrackingService/RecordEvents"
    /// A request of ExplainDelivery.
    static let delivery = Sightline_V1_ExplainDeliveryRequest.with { $0.deliveryID = "56c4" }
    static let deliveryJSON = #"{"deliveryId":"56c4"}"#
    /// The same in protobuf's binary form, and compressed by gzip.
    static let deliveryBytes: [UInt8] = [0x0a, 4] + Array("56c4".utf8)
    static let deliveryGzip = "H4sIAAAAAAACA+NiMTVLNgEAZXmubQYAAAA="

    static func post(
        _ path: String, _ type: String, _ body: some Sequence<UInt8>, _ headers: HTTPFields = [:]
    ) -> DoorRequest {
        var headers = headers
        headers[.contentType] = type
        return DoorRequest(
            method: .post, path: path, headers: headers, body: ByteBuffer(bytes: body))
    }

    static func get(_ path: String, _ query: String?) -> DoorRequest {
        DoorRequest(method: .get, path: path, query: query)
    }
}

extension DoorResponse {
    var text: String { String(buffer: self.body) }

    var bytes: [UInt8] { [UInt8](self.body.readableBytesView) }

    /// The body's JSON.
    func json() throws -> [String: Any] {
        try JSONSerialization.jsonObject(with: Data(self.bytes)) as? [String: Any] ?? [:]
    }
}
