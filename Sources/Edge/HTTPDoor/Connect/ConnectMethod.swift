internal import GRPCCore
internal import HTTP2Edge
internal import SightlineProtos
internal import SwiftProtobuf
internal import TrackingRules

/// A unary method that the door serves, and its messages in JSON.
struct ConnectMethod: Sendable {
    /// The method.
    let descriptor: MethodDescriptor
    /// Whether its proto says NO_SIDE_EFFECTS, which is what GET asks for.
    let hasNoSideEffects: Bool
    private let requestBytes: @Sendable ([UInt8]) throws -> [UInt8]
    private let answerJSON: @Sendable ([UInt8]) throws -> [UInt8]

    /// The maximum bytes of a message in protobuf's binary form, as on the gRPC port.
    static let maxMessageBytes = MessageLimits.maxBytes
    /// The maximum bytes of a message in JSON: the same message is longer there.
    static let maxTextBytes = 2 * Self.maxMessageBytes
    /// The maximum objects in a message in JSON. An object of two bytes becomes a message of some
    /// 500 in memory, so bytes alone do not bound it. A full request of 2,000 events has 16,000.
    static let maxObjects = 32_768
    /// The maximum bytes of a member's name, as it is written: six for each that a custom field's
    /// name may have. The decoder hashes such a name as a String, which takes the square of the
    /// marks that stand behind a character: 100 KB of them took 6 s.
    static let maxNameBytes = 6 * Limits.mapKeyBytes

    private init<Request: Message, Answer: Message>(
        _ descriptor: MethodDescriptor, _: Request.Type, _: Answer.Type,
        hasNoSideEffects: Bool = false
    ) {
        self.descriptor = descriptor
        self.hasNoSideEffects = hasNoSideEffects
        self.requestBytes = { try Request(jsonUTF8Bytes: $0).serializedBytes() }
        self.answerJSON = { try Answer(serializedBytes: $0).jsonUTF8Bytes() }
    }

    private typealias Tracking = Sightline_V1_TrackingService.Method
    private typealias Deliveries = Sightline_V1_DeliveryService.Method
    private typealias Erasure = Sightline_V1_ErasureService.Method

    /// Each method; a test holds it to the protos.
    static let all = [
        ConnectMethod(
            Tracking.RecordEvents.descriptor, Tracking.RecordEvents.Input.self,
            Tracking.RecordEvents.Output.self),
        ConnectMethod(
            Tracking.ExplainEvents.descriptor, Tracking.ExplainEvents.Input.self,
            Tracking.ExplainEvents.Output.self, hasNoSideEffects: true),
        ConnectMethod(
            Tracking.InspectPayload.descriptor, Tracking.InspectPayload.Input.self,
            Tracking.InspectPayload.Output.self, hasNoSideEffects: true),
        ConnectMethod(
            Tracking.ExplainDelivery.descriptor, Tracking.ExplainDelivery.Input.self,
            Tracking.ExplainDelivery.Output.self, hasNoSideEffects: true),
        ConnectMethod(
            Deliveries.PutDeliveries.descriptor, Deliveries.PutDeliveries.Input.self,
            Deliveries.PutDeliveries.Output.self),
        ConnectMethod(
            Erasure.ForgetSubject.descriptor, Erasure.ForgetSubject.Input.self,
            Erasure.ForgetSubject.Output.self),
    ]

    /// The methods that stream, which the gRPC port alone serves.
    private static let streams = [
        Tracking.descriptors, Sightline_V1_TapService.Method.descriptors,
    ].joined().filter { $0.type != .unary }

    /// The method at a path, `/package.Service/Method`.
    ///
    /// - Throws: an `unimplemented` refusal that says where the method is, or which there are.
    static func at(_ path: String) throws(ConnectRefusal) -> ConnectMethod {
        for method in Self.all where path.utf8.elementsEqual(method.path.utf8) { return method }
        for method in Self.streams where path.utf8.elementsEqual(method.path.utf8) {
            let alternative =
                method == Tracking.StreamEvents.descriptor
                ? ", or call RecordEvents here" : ""
            throw .unimplemented(
                "\(method.method) is a stream, which this port does not serve: call it by gRPC at "
                    + "the server's gRPC port\(alternative)")
        }
        throw .unimplemented(
            "\(ConnectRefusal.shown(path)) is no method of this port; it serves "
                + Self.all.map(\.path).joined(separator: ", "))
    }

    /// Its path.
    var path: String { self.descriptor.path }

    /// A request in protobuf's binary form, from its JSON.
    func request(fromJSON text: [UInt8]) throws(ConnectRefusal) -> [UInt8] {
        let shape = JSONShape(of: text)
        guard shape.objects <= Self.maxObjects else {
            throw .tooLarge(
                "request", limit: Self.maxObjects, of: "objects",
                fix: "send fewer events per request")
        }
        guard shape.longestName <= Self.maxNameBytes else {
            throw .tooLarge(
                "request", limit: Self.maxNameBytes, of: "bytes in a name",
                fix: "shorten the longest one")
        }
        do {
            return try self.requestBytes(text)
        } catch JSONDecodingError.unknownField(let name) {
            throw .malformed(
                "request",
                "the field \"\(ConnectRefusal.shown(name))\" is unknown: correct its name, or "
                    + "leave it out; docs/api.md has the fields")
        } catch let error as JSONDecodingError {
            throw .malformed("request", "no JSON of this message (\(error)); see docs/api.md")
        } catch {
            throw .malformed("request", "no JSON of this message; see docs/api.md")
        }
    }

    /// An answer in JSON, from its binary form.
    func json(ofAnswer message: [UInt8]) throws(ConnectRefusal) -> [UInt8] {
        do { return try self.answerJSON(message) } catch { throw .internalFailure }
    }
}

extension MethodDescriptor {
    /// `/package.Service/Method`.
    fileprivate var path: String { "/\(self.fullyQualifiedMethod)" }
}
